"use strict";
// With JavaScript off, everything but live updates and keys works: links and forms of HTML.
const { assert, test } = require("./lib/cases.js");
const { watched } = require("./lib/browser.js");
const { views } = require("./views.js");

async function on(browser, site, work) {
  const page = await watched(browser, site.base, { script: false });
  try {
    await work(page);
  } finally {
    await page.finish();
  }
}

test("without scripts: every view is whole", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  for (const view of views(sites.little)) {
    const expected = view.may || [view.status || 200];
    for (const status of expected) if (status >= 400) page.expectStatus(status);
    const answer = await page.goto(view.path);
    assert.ok(expected.includes(answer.status()), view.path);
    assert.ok((await page.textContent("main")).trim().length > 40, view.path);
    assert.ok(await page.locator("nav[aria-label=\"Pages of the dashboard\"] a").count() >= 6, view.path);
  }
}));

test("without scripts: tables are sorted, filtered and paged", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  await page.goto("/pages");
  await page.click("thead a:text-is(\"changes\")");
  await page.click("nav.paging a[rel=next]");
  await page.click("nav.paging a[rel=prev]");
  await page.selectOption("#state", "alive");
  await page.click("form.filters button");
  assert.ok(await page.locator("tbody tr").count() > 10);
}));

test("without scripts: the slider is a form, and the reasons a page", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  await page.goto(sites.little.page);
  const last = Number(await page.textContent("#v-shown"));
  await page.focus("#v");
  await page.keyboard.press("ArrowLeft");
  await page.click("form.slider button");
  await page.waitForURL(/[?&]v=/);
  assert.equal(Number(await page.textContent("#v-shown")), last - 1);
  await page.click("#versions a[rel=prev]");
  assert.equal(Number(await page.textContent("#v-shown")), last - 2);
  await page.click("#why a");
  await page.waitForURL(/\/why$/);
  assert.match(await page.textContent("#why"), /\w+ \w+/);
}));

test("without scripts: a change is marked as read by a button, and back", ({ browser, sites }) => on(browser, sites.live, async (page) => {
  await page.goto("/?read=yes");
  const first = page.locator("[data-entry] button").first();
  const was = await first.textContent();
  await first.click();
  await page.waitForLoadState();
  assert.equal(new URL(page.url()).pathname, "/", "it leads back");
  await page.goto("/?read=yes");
  const buttons = await page.locator("[data-entry] button").allTextContents();
  assert.ok(buttons.some((text) => text !== was), `${buttons}`);
}));
