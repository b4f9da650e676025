"use strict";
// Everything is reached with the keyboard alone, in the order in which it is read, and it is always seen where one is.
const { assert, test } = require("./lib/cases.js");
const { watched } = require("./lib/browser.js");

const MOST_STOPS = 400;

// Where the focus is: its number in the document, whether it is seen, and what it is.
function stop() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  return {
    number: Array.from(document.querySelectorAll("*")).indexOf(element),
    isMarked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    isInside: box.bottom > 0 && box.top < innerHeight && box.width > 0 && box.height > 0,
    html: element.outerHTML.slice(0, 120),
  };
}

// The elements that a person can use, as numbers in the document. Those of a closed part can't be.
function usable() {
  const all = Array.from(document.querySelectorAll("*"));
  const can = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex=\"0\"]");
  return Array.from(can).filter((element) => element.checkVisibility({ visibilityProperty: true })).map((element) => ({ number: all.indexOf(element), html: element.outerHTML.slice(0, 120) }));
}

for (const [name, place] of [["overview", () => "/"], ["changes", () => "/changes"], ["sites", () => "/sites"], ["site", (site) => `/site?host=${site.host}`], ["pages", () => "/pages"], ["page", (site) => site.page], ["text", (site) => `${site.page}/text`], ["policies", () => "/policies"], ["search", () => "/search?q=people"]]) {
  test(`keyboard: ${name}: every link and field in order, always seen`, async ({ browser, sites }) => {
    const page = await watched(browser, sites.little.base);
    try {
      await page.goto(place(sites.little));
      if (name === "policies") await page.waitForFunction(() => !document.querySelector("main [role=status]"), null, { timeout: 60_000 });
      // A field that is focused at the start is left, so that the walk begins at the top.
      await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
      if (name === "search") await page.reload();
      const stops = [];
      for (let count = 0; count < MOST_STOPS; count++) {
        await page.keyboard.press("Tab");
        const here = await page.evaluate(stop);
        if (!here || (stops.length > 0 && here.number === stops[0].number)) break;
        stops.push(here);
      }
      assert.ok(stops.length > 8 && stops.length < MOST_STOPS, `${stops.length} stops`);
      assert.match(stops[0].html, /class="skip"/, "the first leads past the navigation");
      for (const here of stops) {
        assert.ok(here.isMarked, `it is not marked: ${here.html}`);
        assert.ok(here.isInside, `it is not on the screen: ${here.html}`);
      }
      const order = stops.map((here) => here.number);
      assert.deepEqual(order, [...order].sort((a, b) => a - b), "in the order of the document");
      const missed = (await page.evaluate(usable)).filter((one) => !order.includes(one.number));
      assert.deepEqual(missed, [], "every one is reached");
    } finally {
      await page.finish();
    }
  });
}

test("keyboard: past the navigation, through a filter, to a page and back, without a pointer", async ({ browser, sites }) => {
  const page = await watched(browser, sites.little.base);
  try {
    await page.goto("/pages");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "content");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "url");
    await page.keyboard.type("127.0.1.2");
    await page.keyboard.press("Enter");
    await page.waitForURL(/url=127\.0\.1\.2/);
    const first = page.locator("tbody th a").first();
    const url = await first.textContent();
    await first.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/page\/\d+/);
    assert.ok((await page.textContent("main")).includes(url));
    // A browser without a window has no keys of its own.
    await page.goBack();
    await page.waitForURL(/url=127\.0\.1\.2/);
  } finally {
    await page.finish();
  }
});
