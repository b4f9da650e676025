"use strict";
// The dashboard in a real browser, over stores of every kind. `run` sets this up.
const { runAll } = require("./lib/cases.js");
const { launch } = require("./lib/browser.js");
const { stopAll } = require("./lib/programs.js");
const { make } = require("./lib/stores.js");

require("./every_view.js");
require("./tables.js");
require("./page_of_a_page.js");
require("./inbox.js");
require("./keyboard.js");
require("./without_scripts.js");
require("./token.js");
require("./series.js");
require("./live.js");

async function main() {
  const begun = Date.now();
  let failed = 1;
  let browser;
  try {
    const sites = await make((said) => console.log(said));
    browser = await launch();
    console.log(`Chromium ${browser.version()}, node ${process.version}`);
    failed = await runAll(process.argv[2] || "", { browser, sites });
  } catch (error) {
    console.log(`it could not be set up: ${error.stack}\n0 passed, 1 failed`);
  } finally {
    if (browser) await browser.close();
    await stopAll();
    console.error(`browser: took ${((Date.now() - begun) / 1000).toFixed(0)} s`);
  }
  process.exit(failed === 0 ? 0 : 1);
}

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stopAll().then(() => process.exit(1)));
main();
