"use strict";
// A dashboard with a token: the form, a wrong token, the right one, and the way out.
const axe = require("axe-core");
const { assert, test } = require("./lib/cases.js");
const { PHONE, watched } = require("./lib/browser.js");
const { TOKEN } = require("./lib/stores.js");

async function serious(page) {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes[0].html}`);
}

for (const script of [true, false]) {
  test(`token: in and out${script ? "" : ", without scripts"}`, async ({ browser, sites }) => {
    const page = await watched(browser, sites.token.base, { script });
    try {
      page.expectStatus(403);
      await page.goto("/pages?sort=changes");
      assert.match(page.url(), /\/login\?next=/);
      if (script) {
        assert.deepEqual(await serious(page), []);
        await page.emulateMedia({ colorScheme: "dark" });
        assert.deepEqual(await serious(page), []);
        await page.setViewportSize(PHONE);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360));
      }
      await page.fill("#token", "another token of that length");
      await page.keyboard.press("Enter");
      await page.waitForSelector("[role=alert]");
      assert.equal(await page.getAttribute("#token", "aria-invalid"), "true");
      if (script) assert.deepEqual(await serious(page), []);
      await page.fill("#token", TOKEN);
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/pages\?sort=changes/);
      assert.ok(await page.locator("tbody tr").count() > 10);
      await page.click("text=Log out");
      await page.goto("/");
      assert.match(page.url(), /\/login/);
    } finally {
      await page.finish();
    }
  });
}
