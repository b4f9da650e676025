"use strict";
// The inbox of the overview: changes that last, one entry for a change of a template, read by keys.
const { assert, test } = require("./lib/cases.js");
const { watched } = require("./lib/browser.js");

async function on(browser, site, work) {
  const page = await watched(browser, site.base);
  try {
    // Changes are judged a part at a time: it may take a few looks.
    for (let look = 0; look < 50; look++) {
      await page.goto("/");
      if (await page.locator("[data-entry]").count() > 0 && !/being judged|not looked at/.test(await page.textContent("#inbox"))) break;
    }
    await work(page);
  } finally {
    await page.finish();
  }
}

const current = (page) => page.evaluate(() => Array.from(document.querySelectorAll("[data-entry]")).indexOf(document.activeElement));
// The visits of an entry: what it is known by.
const visits = (page) => page.$$eval("[data-entry] input[name=visits]", (fields) => fields.map((field) => field.value));
const isRead = (page, visits) => page.$$eval("[data-entry]", (entries, visits) => entries.filter((entry) => entry.querySelector("[name=visits]").value === visits).map((entry) => entry.classList.contains("is-read"))[0], visits);

test("inbox: a change of a template is one entry", ({ browser, sites }) => on(browser, sites.hostile, async (page) => {
  const text = await page.textContent("#inbox");
  assert.match(text, /30 pages of 127\.0\.0\.1/, text.slice(0, 800));
  assert.match(text, /bought all of it last night/);
  assert.ok(await page.locator("[data-entry] ins").count() > 0, "what came is marked");
}));

test("inbox: j, k and e lead through it", ({ browser, sites }) => on(browser, sites.live, async (page) => {
  const many = await page.locator("[data-entry]").count();
  assert.ok(many >= 4, `${many} entries`);
  await page.keyboard.press("j");
  assert.equal(await current(page), 0);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none", "it is seen where one is");
  await page.keyboard.press("j");
  assert.equal(await current(page), 1);
  await page.keyboard.press("k");
  assert.equal(await current(page), 0);
  await page.keyboard.press("k");
  assert.equal(await current(page), 0, "the first is the first");
  const gone = (await visits(page))[0];
  await page.keyboard.press("e");
  await page.waitForFunction(() => document.querySelector("[data-entry]").classList.contains("is-read"));
  assert.equal(await current(page), 1, "the next one comes");
  const first = page.locator("[data-entry]").first();
  assert.equal(await first.locator("button").textContent(), "Mark as not read");
  await page.keyboard.press("Control+j");
  assert.equal(await current(page), 1, "keys of the browser stay what they are");
  await page.reload();
  assert.ok(!(await visits(page)).includes(gone), "it was read");
  await page.goto("/?read=yes");
  assert.equal(await isRead(page, gone), true);
  // Once more with e: it is not read.
  await page.locator(`[data-entry]:has([name=visits][value="${gone}"])`).focus();
  await page.keyboard.press("e");
  await page.waitForFunction((gone) => !document.querySelector(`[data-entry]:has([name=visits][value="${gone}"])`).classList.contains("is-read"), gone);
  await page.goto("/");
  assert.ok((await visits(page)).includes(gone));
}));

test("inbox: o opens the page of a change", ({ browser, sites }) => on(browser, sites.live, async (page) => {
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.waitForURL(/\/page\/\d+/);
}));

test("inbox: a button marks an entry, and one marks all of them", ({ browser, sites }) => on(browser, sites.live, async (page) => {
  const many = await page.locator("[data-entry]").count();
  const gone = (await visits(page))[0];
  await page.locator("[data-entry] button").first().click();
  await page.waitForFunction((gone) => !document.querySelector(`[name=visits][value="${gone}"]`), gone);
  assert.ok(many > 1);
  await page.click("button:text(\"Mark everything\")");
  await page.waitForFunction(() => document.querySelectorAll("[data-entry]").length === 0);
  assert.match(await page.textContent("#inbox"), /0 not read|Nothing to read/);
}));
