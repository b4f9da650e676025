"use strict";
// Cycle by cycle on the overview: a chart that follows the scheme and the width, and the same numbers as a table.
const { assert, test } = require("./lib/cases.js");
const { PHONE, watched } = require("./lib/browser.js");
const { json } = require("./lib/stores.js");
const { start, until } = require("./lib/programs.js");

// Points of the canvas that have nearly the colour of a variable of the page.
const pixels = (page, name) => page.evaluate((name) => {
  const canvas = document.querySelector("#series canvas");
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const wanted = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 200 && wanted.every((part, of) => Math.abs(part - data[at + of]) < 8)) found += 1;
  }
  return found;
}, name);

test("series of the overview: the chart is drawn, light and dark, and as wide as there is room", async ({ browser, sites }) => {
  const page = await watched(browser, sites.little.base);
  try {
    await page.goto("/");
    await page.waitForSelector("#series canvas");
    assert.equal(await page.getAttribute("#series", "aria-hidden"), "true");
    const wide = await page.locator("#series canvas").boundingBox();
    assert.ok(wide.width > 600 && wide.height > 150, `${wide.width} × ${wide.height}`);
    for (const name of ["--ink", "--changed"]) assert.ok(await pixels(page, name) > 50, `light: a line has the colour ${name}`);
    const light = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--changed"));
    await page.emulateMedia({ colorScheme: "dark" });
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--changed")), light);
    await until("the lines have the colours of the dark page", async () => await pixels(page, "--changed") > 50);
    await page.setViewportSize(PHONE);
    await until("the chart fits a phone", async () => (await page.locator("#series canvas").boundingBox()).width <= 340);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
  } finally {
    await page.finish();
  }
});

test("series of the overview: dragging shows a part, and a double click all", async ({ browser, sites }) => {
  const page = await watched(browser, sites.little.base);
  try {
    await page.goto("/");
    await page.waitForSelector("#series canvas");
    const drawn = () => page.evaluate(() => document.querySelector("#series canvas").toDataURL());
    await page.locator("#series .u-over").scrollIntoViewIfNeeded();
    const whole = await drawn();
    const box = await page.locator("#series .u-over").boundingBox();
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + 0.3 * box.width, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.8 * box.width, middle, { steps: 5 });
    await page.mouse.up();
    await until("a part is shown", async () => await drawn() !== whole);
    await page.mouse.dblclick(box.x + 0.5 * box.width, middle);
    await until("all is shown", async () => await drawn() === whole);
  } finally {
    await page.finish();
  }
});

test("series of the overview: the table has the numbers of the API, also without scripts", async ({ browser, sites }) => {
  const { items } = await json(sites.little.base, "/api/v1/cycles?limit=20");
  assert.ok(items.length >= 3);
  const page = await watched(browser, sites.little.base, { script: false });
  try {
    await page.goto("/");
    assert.ok(await page.locator("#series").isHidden(), "no empty chart");
    await page.click("details:has(#cycles) summary");
    assert.ok(await page.locator("#cycles table").isVisible());
    const rows = await page.locator("#cycles tbody tr").evaluateAll((rows) => rows.map((row) => Array.from(row.cells, (cell) => cell.textContent.trim())));
    const shown = rows.map(([id, , ...counts]) => [id, ...counts].map((text) => Number(text.replace(/\D/g, ""))));
    assert.deepEqual(shown, items.map((cycle) => [cycle.cycle_id, cycle.requests, cycle.changed, cycle.new_pages, cycle.failed]));
  } finally {
    await page.finish();
  }
});

test("series of the overview: fewer than three cycles make no chart", async ({ browser, sites }) => {
  const page = await watched(browser, sites.empty.base);
  try {
    const asked = page.waitForResponse((answer) => answer.url().includes("/api/v1/cycles"));
    await page.goto("/");
    assert.ok((await (await asked).json()).items.length < 3);
    await page.waitForLoadState("networkidle").catch(() => {});
    assert.equal(await page.locator("#series canvas").count(), 0);
    assert.ok(await page.locator("#series").isHidden());
  } finally {
    await page.finish();
  }
});

test("series of the overview: a new cycle is drawn while the page is open", async ({ browser, sites }) => {
  const page = await watched(browser, sites.live.base);
  try {
    await page.goto("/");
    await page.waitForSelector("#series canvas");
    await page.waitForFunction(() => document.querySelector("#live-state").textContent === "no cycle is open");
    const before = await page.evaluate(() => document.querySelector("#series canvas").toDataURL());
    const running = start(["crawl", "--quiet", "--store", "live.db", "--address-rate", "0", "--allow-private=127.0.0.0/8", "--delay", "0.02", "--budget", "40"]);
    assert.equal(await running.ended, 0, running.told);
    await until("it is drawn again", () => page.evaluate((before) => document.querySelector("#series canvas").toDataURL() !== before, before));
  } finally {
    await page.finish();
  }
});

test("policies: the plot has the colours of the page, and the place of the policy in use stands beside it", async ({ browser, sites }) => {
  const page = await watched(browser, sites.little.base, { scheme: "dark" });
  try {
    await page.goto("/policies");
    await page.waitForFunction(() => !document.querySelector("main [role=status]") && document.querySelector("figure.plot svg"), null, { timeout: 60_000, polling: 200 });
    assert.match(await page.textContent("#place"), /is in use: number \d+ of \d+/);
    const inks = await page.evaluate(() => [getComputedStyle(document.querySelector("figure.plot svg rect")).fill, getComputedStyle(document.querySelector("figure.plot svg text")).fill]);
    assert.deepEqual(inks, ["rgb(28, 33, 37)", "rgb(230, 233, 235)"]);
  } finally {
    await page.finish();
  }
});
