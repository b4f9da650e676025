"use strict";
// A page that is left open follows a crawl: its numbers change, and it is not loaded again.
const { assert, test } = require("./lib/cases.js");
const { watched } = require("./lib/browser.js");
const { PACE, json, seeds } = require("./lib/stores.js");
const { start, freshet, serve, until, web } = require("./lib/programs.js");

// A crawl that takes some seconds.
const crawl = () => start(["crawl", "--quiet", "--store", "live.db", ...PACE.slice(2), "--delay", "0.05", "--cycles", "2", "--budget", "120"]);

for (const [name, place, part] of [["overview", () => "/", "#sentence"], ["sites", () => "/sites", "#sites"], ["changes", () => "/changes", "#changes"], ["page", (site) => `/site?host=${site.host}`, "#facts"]]) {
  test(`live: ${name} follows a crawl`, async ({ browser, sites }) => {
    const page = await watched(browser, sites.live.base);
    try {
      await page.goto(place(sites.live));
      await page.evaluate(() => { window.isSame = true; });
      await page.waitForFunction(() => document.querySelector("#live-state").textContent === "no cycle is open");
      const before = await page.textContent(part);
      const running = crawl();
      await page.waitForFunction(() => /^cycle \d+: [\d,]+ of 120 requests$/.test(document.querySelector("#live-state").textContent), null, { timeout: 30_000 });
      // What a person holds is not taken away.
      const link = name === "sites" ? page.locator("#sites tbody a").first() : null;
      if (link) await link.focus();
      await page.waitForFunction(([part, before]) => document.querySelector(part).textContent !== before, [part, before], { timeout: 30_000 });
      if (link) assert.equal(await page.evaluate(() => document.activeElement.tagName), "A", "the link has the focus still");
      assert.equal(await running.ended, 0, running.told);
      await page.waitForFunction(() => document.querySelector("#live-state").textContent === "no cycle is open", null, { timeout: 30_000 });
      assert.equal(await page.evaluate(() => window.isSame), true, "the page was not loaded again");
      if (name === "overview") {
        const sent = (await json(sites.live.base, "/api/v1/status?cycles=1")).cycles[0];
        await until("the last cycle is shown", async () => (await page.textContent("#about")).includes(`Cycle ${sent.cycle_id} `));
      }
    } finally {
      await page.finish();
    }
  });
}

test("live: a dashboard that was up before the store shows it once it is there", async ({ browser }) => {
  const base = await serve("late.db");
  const page = await watched(browser, base);
  try {
    page.expectStatus(503);
    await page.goto("/");
    assert.match(await page.textContent("main"), /There is no store yet/);
    const urls = await web(1, ["--pages", "10", "--day", "1h"]);
    await freshet(["crawl", "--quiet", "--store", "late.db", ...PACE, "--seeds", seeds("late", urls)]);
    await page.waitForSelector("#sentence", { timeout: 20_000 });
  } finally {
    await page.finish();
  }
});
