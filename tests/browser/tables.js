"use strict";
// Tables: sorted by a click, turned around by a second, filtered by a form, paged to the end and back.
const { assert, test } = require("./lib/cases.js");
const { watched } = require("./lib/browser.js");
const { BIG_PAGES, HOSTS, json } = require("./lib/stores.js");

async function on(browser, site, work) {
  const page = await watched(browser, site.base);
  try {
    await work(page);
  } finally {
    await page.finish();
  }
}

// The cells of a column, as they are shown.
const column = (page, label) => page.evaluate((label) => {
  const heads = Array.from(document.querySelectorAll("main table th[scope=col]"), (head) => head.textContent.trim());
  const at = heads.indexOf(label);
  return Array.from(document.querySelectorAll("main table tbody tr"), (row) => row.cells[at].textContent.trim());
}, label);

const numbers = (cells) => cells.map((cell) => Number(cell.replace(/[,\u00A0\u202F\s]/g, "")));
const isSorted = (values, isFalling) => values.every((value, at) => at === 0 || (isFalling ? values[at - 1] >= value : values[at - 1] <= value));
const urls = (page) => page.$$eval("main table tbody th a", (links) => links.map((link) => link.textContent));

for (const name of ["little", "big"]) {
  test(`tables: ${name}: pages are sorted by a click and turned around by a second`, ({ browser, sites }) => on(browser, sites[name], async (page) => {
    await page.goto("/pages");
    for (const label of ["visits", "changes", "failures"]) {
      await page.click(`thead a:text-is("${label}")`);
      assert.equal(await page.getAttribute(`thead th:has(a:text-is("${label}"))`, "aria-sort"), "descending");
      const falling = numbers(await column(page, label));
      assert.ok(falling.length > 10 && isSorted(falling, true), `${label}: ${falling}`);
      await page.click(`thead a:text-is("${label}")`);
      assert.equal(await page.getAttribute(`thead th:has(a:text-is("${label}"))`, "aria-sort"), "ascending");
      assert.ok(isSorted(numbers(await column(page, label)), false), label);
    }
    await page.click("thead a:text-is(\"page\")");
    const listed = await urls(page);
    assert.deepEqual(listed, [...listed].sort(), "by address");
  }));
}

test("tables: every page of the list is shown once, to the end and back", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  const known = (await json(sites.little.base, "/api/v1/status?cycles=1")).pages.known;
  await page.goto("/pages?sort=changes");
  const first = await urls(page);
  const seen = [...first];
  let steps = 0;
  while (await page.locator("nav.paging a[rel=next]").count() > 0) {
    await page.click("nav.paging a[rel=next]");
    seen.push(...await urls(page));
    steps += 1;
    assert.ok(steps < 100, "it comes to an end");
  }
  assert.ok(steps >= 3, `${steps} steps`);
  assert.equal(new Set(seen).size, seen.length, "none comes twice");
  assert.equal(seen.length, known);
  for (; steps > 0; steps--) await page.click("nav.paging a[rel=prev]");
  assert.deepEqual(await urls(page), first);
}));

test("tables: pages are filtered by address, site and state, and the order stays", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  await page.goto("/pages?sort=changes");
  const part = new URL((await urls(page))[0]).pathname.slice(0, 5);
  await page.fill("#url", part);
  await page.click("form.filters button");
  assert.equal(new URL(page.url()).searchParams.get("sort"), "changes");
  const found = await urls(page);
  assert.ok(found.length > 0 && found.every((url) => url.includes(part)), `${part}: ${found}`);
  await page.goto("/pages");
  await page.selectOption("#state", "alive");
  await page.click("form.filters button");
  const states = await column(page, "state");
  assert.ok(states.length > 0 && states.every((state) => state.startsWith("alive")), `${states}`);
  assert.equal(await page.inputValue("#state"), "alive", "the form says what was asked");
  await page.fill("#host", decodeURIComponent(sites.little.host));
  await page.click("form.filters button");
  const there = await urls(page);
  assert.ok(there.length > 0 && there.every((url) => new URL(url).host === decodeURIComponent(sites.little.host)));
  await page.fill("#url", "no address has this");
  await page.click("form.filters button");
  assert.match(await page.textContent("#pages"), /No page passes these filters/);
}));

test("tables: ten thousand sites are sorted, filtered and paged", ({ browser, sites }) => on(browser, sites.hostile, async (page) => {
  await page.goto("/sites");
  assert.match(await page.textContent("#sites"), new RegExp(`${(HOSTS + 1).toLocaleString("en")} found`));
  await page.click("thead a:text-is(\"pages\")");
  const pages = numbers(await column(page, "pages"));
  assert.ok(pages[0] > 20 && isSorted(pages, true), `${pages}`);
  const first = await urls(page);
  await page.click("nav.paging a[rel=next]");
  const second = await urls(page);
  assert.ok(second.length > 10 && second.every((url) => !first.includes(url)));
  await page.fill("#q", "127.2.7.");
  await page.click("form.filters button");
  const found = await urls(page);
  assert.ok(found.length > 10 && found.every((url) => url.includes("127.2.7.")), `${found}`);
  await page.check("#waiting");
  await page.click("form.filters button");
  assert.ok((await page.textContent("#sites")).includes("found"));
}));

test("tables: changes are filtered by kind and size and ordered by size", ({ browser, sites }) => on(browser, sites.little, async (page) => {
  await page.goto("/changes");
  await page.selectOption("#kind", "changed");
  await page.selectOption("#order", "largest");
  await page.click("form.filters button");
  const moved = (await page.$$eval("#changes .meta", (lines) => lines.map((line) => line.textContent))).map((line) => Number((/divergence ([\d.]+)/.exec(line) || [])[1]));
  assert.ok(moved.length > 5 && isSorted(moved, true), `${moved}`);
  const kinds = await page.$$eval("#changes .tag", (tags) => tags.map((tag) => tag.textContent));
  assert.equal(new Set(kinds).size, 1, `${kinds}`);
  const least = (moved[2] - 0.05).toFixed(2);
  await page.fill("#least", least);
  await page.click("form.filters button");
  const fewer = (await page.$$eval("#changes .meta", (lines) => lines.map((line) => line.textContent))).map((line) => Number((/divergence ([\d.]+)/.exec(line) || [])[1]));
  assert.ok(fewer.length >= 1 && fewer.every((value) => value >= Number(least) - 0.01), `${fewer}`);
  await page.check("#lasting");
  await page.click("form.filters button");
  assert.ok((await page.textContent("#changes")).length > 0);
  const feed = await page.getAttribute("#since-help a", "href");
  assert.match(feed, /^\/changes\.atom\?.*kind=changed/, "the feed has the same filters");
}));

test("tables: the big store has all of its pages", async ({ sites }) => {
  const status = await json(sites.big.base, "/api/v1/status?cycles=1");
  assert.ok(status.pages.known >= BIG_PAGES, `${status.pages.known}`);
});
