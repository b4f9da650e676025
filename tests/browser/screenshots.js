"use strict";
// Pictures of every view, light and dark, wide and narrow, into a folder: for people who judge how it looks, and for the documents.
// The store is one that a person could have: sites that change, one with a new foot on all of its pages, one that asks for time.
const http = require("node:http");
const path = require("node:path");
const { PHONE, WIDE, launch } = require("./lib/browser.js");
const { freshet, serve, start, stopAll, web } = require("./lib/programs.js");
const { PACE, TOKEN, json, pageOf, seeds } = require("./lib/stores.js");

const [folder, part = ""] = process.argv.slice(2);
const CYCLES = 12;
const BUDGET = 120;

const SUBJECTS = ["library", "market", "harbour", "school", "bridge", "theatre", "station", "garden", "museum", "council", "pool", "archive"];
const NEWS = [
  "opens an hour earlier from Monday, the council said, so that people who work in shifts can use it before noon",
  "stays closed until the end of the month; the roof leaks, and the repair costs more than was thought at first",
  "gets a new timetable: six more on weekdays, and two less on Sunday evenings, when few people come",
];

// A local paper: on its second day three of its pages have other news, on its third all of them another foot.
async function paper() {
  const town = { day: 1 };
  const server = http.createServer((request, response) => {
    const send = (title, body) => {
      const foot = town.day >= 3 ? "Published by the town and its people. Write to us before Friday noon." : "Published by the town. All rights reserved.";
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
      response.end(`<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}<p>${foot}</p>`);
    };
    const subject = SUBJECTS.find((name) => request.url === `/${name}`);
    if (request.url === "/") {
      const list = SUBJECTS.map((name) => `<li><a href="/${name}">The ${name}</a></li>`).join("");
      return send("The Harbour Gazette", `<p>News of the town, every morning.</p><ul>${list}</ul>`);
    }
    if (!subject) { response.writeHead(404); return response.end(); }
    const at = SUBJECTS.indexOf(subject);
    const news = town.day >= 2 && at % 5 === 0 ? NEWS[1] : NEWS[at % 2 === 0 ? 0 : 2];
    send(`The ${subject}`, `<p>The ${subject} ${news}.</p><p>The people who live near the ${subject} were asked for their opinion, and most of them were content with it.</p>`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  town.url = `http://127.0.0.1:${server.address().port}/`;
  return town;
}

// A site that answers twenty times and then asks for ten minutes.
async function tired() {
  let asked = 0;
  const server = http.createServer((request, response) => {
    asked += 1;
    if (asked > 20) { response.writeHead(429, { "Retry-After": "600" }); return response.end(); }
    response.writeHead(request.url === "/robots.txt" ? 404 : 200, { "Content-Type": "text/html" });
    response.end(`<title>Page ${request.url}</title><p>A page of a site that is soon tired.</p>${Array.from({ length: 30 }, (_, at) => `<a href="/p${at}">p${at}</a>`).join(" ")}`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}/`;
}

async function store() {
  const urls = await web(4, ["--pages", "80", "--day", "15s", "--median-bytes", "4000", "--static-share", "0.6"]);
  const town = await paper();
  const all = [...urls, `${town.url}\tweight=3`, await tired()];
  const crawl = (flags) => freshet(["crawl", "--quiet", "--store", "town.db", ...PACE, "--search", ...flags]);
  await crawl(["--seeds", seeds("town", all)]);
  for (let cycle = 0; cycle < CYCLES; cycle++) await crawl(["--budget", String(BUDGET)]);
  for (town.day = 2; town.day <= 3; town.day++) await crawl([]);
  await crawl([]);
  for (let cycle = 0; cycle < 3; cycle++) await crawl(["--budget", String(BUDGET)]);
  return town.url;
}

async function main() {
  let browser;
  try {
    const news = await store();
    const base = await serve("town.db");
    const withToken = await serve("town.db", ["--token", TOKEN]);
    const nothing = await serve("nothing.db");
    const most = (await json(base, "/api/v1/pages?sort=changes&limit=1")).items[0].url;
    const page = await pageOf(base, most);
    const host = encodeURIComponent(new URL(most).host);
    const views = [
      ["overview", base, "/"], ["changes", base, "/changes"], ["sites", base, "/sites"], ["site", base, `/site?host=${host}`],
      ["site-paper", base, `/site?host=${encodeURIComponent(new URL(news).host)}`],
      ["pages", base, "/pages?sort=changes"], ["page", base, page], ["page-paper", base, await pageOf(base, `${news}library`)], ["text", base, `${page}/text`], ["visits", base, `${page}/visits`], ["why", base, `${page}/why`],
      ["policies", base, "/policies"], ["search", base, "/search?q=people"], ["login", withToken, "/login"], ["error", base, "/pages?sort=colour"], ["no-store", nothing, "/"],
    ].filter(([name]) => name.includes(part));
    // Changes are judged a part at a time; the inbox is whole after some looks, and the backtest is worked out by now.
    for (let look = 0; look < 30; look++) {
      if (!/At least|at least|not looked at/.test(await (await fetch(`${base}/`)).text())) break;
    }
    await fetch(`${base}/policies`);
    browser = await launch();
    for (const [name, site, place] of views) {
      for (const scheme of ["light", "dark"]) {
        for (const [size, viewport] of [["wide", WIDE], ["phone", PHONE]]) {
          const context = await browser.newContext({ baseURL: site, viewport, colorScheme: scheme, reducedMotion: "reduce", deviceScaleFactor: 1 });
          const shown = await context.newPage();
          // While a style is being made, it need not be built in each time.
          if (process.env.BROWSER_STYLE) await shown.route("**/assets/style.css*", (route) => route.fulfill({ path: process.env.BROWSER_STYLE }));
          await shown.goto(place);
          if (name === "policies") await shown.waitForFunction(() => !document.querySelector("main [role=status]"), null, { timeout: 60_000 });
          await shown.waitForTimeout(150);
          const picture = (end, more) => shown.screenshot({ path: path.join(folder, `${name}-${scheme}-${size}${end}.png`), ...more });
          await picture("", {});
          if (await shown.evaluate(() => document.documentElement.scrollHeight > innerHeight)) await picture("-all", { fullPage: true });
          await context.close();
        }
      }
      console.log(name);
    }
    // A person may want to look by themselves.
    if (process.env.BROWSER_WAIT) {
      console.log(base);
      await start(["serve", "--store", "town.db", "--listen", "127.0.0.1:0"]).ended;
    }
  } finally {
    if (browser) await browser.close();
    await stopAll();
  }
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
