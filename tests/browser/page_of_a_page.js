"use strict";
// The page of a page: its pictures, the slider over its versions, the comparison of any two, its text, the reasons.
const { assert, test } = require("./lib/cases.js");
const { watched } = require("./lib/browser.js");

async function on(browser, site, work, options) {
  const page = await watched(browser, site.base, options);
  try {
    await page.goto(site.page);
    await work(page);
  } finally {
    await page.finish();
  }
}

const shown = (page) => page.textContent("#v-shown");
const heading = (page) => page.textContent(".sides thead");

test("page: stripes, a curve and rates are drawn, with words for those who can't see them", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  for (const title of ["#stripes-title", "#curve-title"]) {
    const picture = page.locator(`section:has(${title}) svg`).first();
    const box = await picture.boundingBox();
    assert.ok(box.width > 200 && box.height > 80, `${title}: ${JSON.stringify(box)}`);
    assert.ok(await picture.evaluate((svg) => svg.getAttribute("aria-label") || svg.querySelector("title") || svg.getAttribute("aria-labelledby")), `${title} has a name`);
  }
  assert.ok(await page.locator("section:has(#rates-title) tbody tr").count() >= 3);
  await page.click("summary:text(\"The measured points\")");
  assert.ok(await page.locator("details[open] tbody tr").count() > 0);
}));

test("page: the slider moves over the versions and keeps the focus and the address", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  const last = Number(await shown(page));
  assert.ok(last >= 3, `it has ${last} versions`);
  const before = await heading(page);
  await page.evaluate(() => { window.isSame = true; });
  await page.focus("#v");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((was) => document.querySelector(".sides thead").textContent !== was, before);
  assert.equal(Number(await shown(page)), last - 1);
  assert.equal(await page.evaluate(() => window.isSame), true, "the page was not loaded again");
  assert.equal(await page.evaluate(() => document.activeElement.id), "v", "the slider has the focus");
  assert.equal(new URL(page.url()).searchParams.get("v"), String(last - 1));
  await page.click("#versions a[rel=prev]");
  await page.waitForFunction((number) => document.querySelector("#v-shown").textContent === number, String(last - 2));
  await page.click("#versions a[rel=next]");
  await page.waitForFunction((number) => document.querySelector("#v-shown").textContent === number, String(last - 1));
  const there = await heading(page);
  await page.reload();
  assert.equal(await heading(page), there, "the address leads to the same comparison");
}));

test("page: a comparison marks what came and what went, and any two versions can be compared", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  const marked = await page.locator(".sides ins, .sides del, .sides .d-added .new, .sides .d-removed .old, .sides .d-changed .old").count();
  assert.ok(marked > 0, "something is marked");
  await page.click("summary:text(\"Compare any two\")");
  const numbers = await page.$$eval("#from option", (options) => options.map((option) => option.value));
  await page.selectOption("#from", numbers.includes("1") ? "1" : numbers[numbers.length - 1]);
  await page.click("button:text(\"Compare\")");
  await page.waitForURL(/from=/);
  assert.match(await heading(page), /Version 1,/);
}));

test("page: the text as it was, forth and back", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  await page.click("a:text(\"its text as it was\")");
  const newest = await page.textContent("pre.text");
  await page.click("a[rel=prev]");
  assert.notEqual(await page.textContent("pre.text"), newest);
  await page.click("a[rel=next]");
  assert.equal(await page.textContent("pre.text"), newest);
}));

test("page: the reasons come into the page, as sentences", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  await page.click("a[data-into]");
  await page.waitForFunction(() => !document.querySelector("#why a[data-into]"));
  assert.match(await page.textContent("#why"), /\w+ \w+ .*\./);
  assert.ok(!page.url().endsWith("/why"));
}));
