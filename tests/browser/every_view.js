"use strict";
// What holds on every view over every store: it is whole, small, quiet, stays on this machine, runs nothing that was crawled, is
// accessible in light and dark, and fits a phone.
const axe = require("axe-core");
const { assert, test } = require("./lib/cases.js");
const { PHONE, WIDE, watched } = require("./lib/browser.js");
const { pageOf } = require("./lib/stores.js");
const { hostilePages, views, viewsWithoutStore } = require("./views.js");

const MOST_BYTES = 300_000;

// The violations that are serious or critical, in words.
async function violations(page, terms) {
  const found = await page.evaluate((terms) => globalThis.axe.run(document, { resultTypes: ["violations"], ...terms }), terms);
  const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return bad.map((one) => `${one.impact}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.any.concat(node.all, node.none).map((check) => check.message).join("; ").slice(0, 200)}`).join(" | ")}`);
}

// Faults that can be read off the document.
function faults() {
  const found = [];
  const say = (isWrong, what) => { if (isWrong) found.push(what); };
  say(document.querySelectorAll("h1").length !== 1, `${document.querySelectorAll("h1").length} headings h1`);
  say(!document.title.endsWith("freshet"), `its title is ${document.title}`);
  say(document.documentElement.lang !== "en", "no language");
  say(window.isHacked !== undefined, `a script of a stranger ran: ${window.isHacked}`);
  for (const script of document.scripts) say(!script.src.startsWith(`${location.origin}/assets/`), `a script ${script.src}`);
  // uPlot places what it draws by the style of its elements.
  say(document.querySelector("img, iframe, object, embed, style, base, [style]:not(#series .uplot, #series .uplot *)"), "an element that has no place here");
  for (const element of document.querySelectorAll("*")) {
    for (const attribute of element.attributes) {
      say(attribute.name.startsWith("on"), `an attribute ${attribute.name}`);
      say(["href", "src", "action"].includes(attribute.name) && /^\s*(javascript|data|vbscript):/i.test(attribute.value), `${attribute.name} is ${attribute.value.slice(0, 60)}`);
    }
  }
  const ids = Array.from(document.querySelectorAll("[id]"), (element) => element.id);
  say(new Set(ids).size !== ids.length, "an id stands twice");
  say(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/.test(document.body.textContent + document.title), "a mark that turns the direction of writing");
  say(/NaN|undefined|\[object/.test(document.querySelector("main").innerText.replace(/undefined behaviour/g, "")), "NaN or undefined");
  return found;
}

// How far the page can be moved sideways, and which elements stick out.
function sideways() {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return null;
  const out = Array.from(document.querySelectorAll("body *")).filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1 && !element.closest(".scroll, svg"));
  return `${root.scrollWidth} of ${root.clientWidth} pixels: ${out.slice(-3).map((element) => element.outerHTML.slice(0, 100)).join(" | ")}`;
}

// Opens a view once and looks at it in every way.
async function look(browser, site, view) {
  const page = await watched(browser, site.base);
  try {
    const expected = view.may || [view.status || 200];
    for (const status of expected) if (status >= 400) page.expectStatus(status);
    const answer = await page.goto(view.path, { waitUntil: "load" });
    assert.ok(expected.includes(answer.status()), `${view.path}: status ${answer.status()}`);
    const bytes = (await answer.body()).length;
    assert.ok(bytes < MOST_BYTES, `${view.path}: ${bytes} bytes`);
    // What is worked out in the background is there after a while.
    if (view.settled) await page.waitForFunction((part) => !document.querySelector(`main ${part}`), view.settled, { timeout: 60_000, polling: 200 });
    await page.evaluate(axe.source);
    page.complaints.push(...await page.evaluate(faults), ...await violations(page, {}));
    await page.emulateMedia({ colorScheme: "dark" });
    page.complaints.push(...(await violations(page, { runOnly: ["color-contrast"] })).map((fault) => `dark: ${fault}`));
    for (const viewport of [PHONE, WIDE]) {
      await page.setViewportSize(viewport);
      const over = await page.evaluate(sideways);
      if (over) page.complaints.push(`at ${viewport.width} pixels it is wider: ${over}`);
    }
  } finally {
    await page.finish();
  }
}

for (const name of ["none", "empty", "little", "hostile", "big"]) {
  // The views need places of the store, so the list is made when the store is there; the names are the same for all.
  const list = name === "none" ? viewsWithoutStore() : views({});
  list.forEach((view, at) => test(`${name}: ${view.name}`, ({ browser, sites }) => {
    const site = sites[name];
    return look(browser, site, name === "none" ? view : views(site)[at]);
  }));
}

for (const path of hostilePages) {
  test(`hostile: the page of /${path}`, async ({ browser, sites }) => {
    const page = await pageOf(sites.hostile.base, sites.hostile.home + path);
    for (const place of [page, `${page}/text`, `${page}/visits`]) await look(browser, sites.hostile, { path: place, may: [200, 404] });
  });
}

test("the report is one file that is whole by itself", async ({ browser, sites }) => {
  const { freshet } = require("./lib/programs.js");
  const path = require("node:path");
  const out = path.join(process.env.BROWSER_WORK, "report.html");
  await freshet(["report", "--store", sites.hostile.store, "--out", out]);
  const page = await watched(browser, "null");
  try {
    await page.goto(`file://${out}`);
    await page.evaluate(axe.source);
    page.complaints.push(...await violations(page, {}));
    await page.emulateMedia({ colorScheme: "dark" });
    page.complaints.push(...(await violations(page, { runOnly: ["color-contrast"] })).map((fault) => `dark: ${fault}`));
    await page.setViewportSize(PHONE);
    const over = await page.evaluate(sideways);
    if (over) page.complaints.push(`it is wider than a phone: ${over}`);
    assert.equal(await page.evaluate(() => document.scripts.length + document.querySelectorAll("img, link[href^=http]").length), 0);
  } finally {
    await page.finish();
  }
});
