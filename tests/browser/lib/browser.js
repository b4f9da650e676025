"use strict";
// Chromium, and pages that are watched: what they ask for, what they complain about, what they try to run.
const { chromium } = require("playwright-core");

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-dev-shm-usage",
  // No name is looked up: a request that leaves the machine fails, and is seen.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM, headless: true, args: FLAGS });

// A context of its own and a page in it. `page.complaints` has every fault that was seen; `finish` fails if there is one.
async function watched(browser, base, options = {}) {
  const { script = true, scheme = "light", viewport = WIDE } = options;
  const context = await browser.newContext({ baseURL: base, viewport, colorScheme: scheme, javaScriptEnabled: script, reducedMotion: "reduce", locale: "en-GB" });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const complaints = [];
  const expected = new Set();
  page.complaints = complaints;
  // An error page is one that was asked for.
  page.expectStatus = (status) => expected.add(status);
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== base && !["data:", "about:"].includes(url.protocol)) complaints.push(`it asked for ${request.url().slice(0, 200)}`);
  });
  context.on("page", (other) => { if (other !== page) complaints.push("it opened a window"); });
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    const status = /the server responded with a status of (\d+)/.exec(message.text());
    if (status && expected.has(Number(status[1]))) return;
    complaints.push(`the console says: ${message.text().slice(0, 300)}`);
  });
  page.on("pageerror", (error) => complaints.push(`a script failed: ${error}`));
  page.on("dialog", (dialog) => { complaints.push(`it opened a dialog: ${dialog.message()}`); dialog.dismiss(); });
  if (script) {
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`));
    });
  }
  page.finish = async () => {
    await context.close();
    if (complaints.length > 0) throw new Error(complaints.join("\n"));
  };
  return page;
}

module.exports = { PHONE, WIDE, launch, watched };
