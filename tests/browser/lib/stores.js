"use strict";
// The stores that the dashboard is shown over, each crawled by the real crawler from a web on loopback.
const fs = require("node:fs");
const path = require("node:path");
const { freshet, serve, web } = require("./programs.js");
const { hostileSite } = require("./hostile_site.js");

const WORK = process.env.BROWSER_WORK;
const PACE = ["--delay", "0", "--address-rate", "0", "--allow-private=127.0.0.0/8"];
const HOSTS = 10_000;
// Pages of the big store: what a crawl of loopback gets in half a minute.
const BIG_PAGES = Number(process.env.BROWSER_BIG_PAGES || 20_000);
const TOKEN = "a token that is long enough";

function seeds(name, urls) {
  const file = path.join(WORK, `${name}.txt`);
  fs.writeFileSync(file, `${urls.join("\n")}\n`);
  return file;
}

const crawl = (store, flags) => freshet(["crawl", "--quiet", "--store", store, ...PACE, ...flags]);

// A store with one seed and no visit: its address is private, and such addresses are not crawled unless they are allowed.
async function empty() {
  await freshet(["crawl", "--quiet", "--store", "empty.db", "--seeds", seeds("empty", ["http://127.9.9.9:9/"])], [0, 1, 2, 3, 4]);
}

// A web that changes, visited until some changes are seen to last.
async function little() {
  const urls = await web(3, ["--pages", "60", "--day", "3s", "--median-bytes", "5000"]);
  await crawl("little.db", ["--seeds", seeds("little", urls), "--search"]);
  for (let cycle = 0; cycle < 4; cycle++) await crawl("little.db", ["--search"]);
  await crawl("little.db", ["--search", "--budget", "60"]);
  // One that is written to, by read marks and by a crawl that goes on while it is looked at.
  for (const end of ["", "-wal"]) {
    const file = path.join(WORK, `little.db${end}`);
    if (fs.existsSync(file)) fs.copyFileSync(file, path.join(WORK, `live.db${end}`));
  }
  return urls;
}

// What strangers may do to those who look: see hostile_site.js; and ten thousand hosts, of which none answers.
async function hostile() {
  const site = await hostileSite();
  await crawl("hostile.db", ["--seeds", seeds("hostile", [`${site}/`]), "--no-sitemaps", "--search"]);
  for (let cycle = 0; cycle < 3; cycle++) await crawl("hostile.db", ["--no-sitemaps", "--search"]);
  const hosts = Array.from({ length: HOSTS }, (_, at) => `http://127.${2 + (at >> 14)}.${(at >> 8) & 63}.${at & 255}:1/`);
  await freshet(["crawl", "--quiet", "--store", "hostile.db", ...PACE, "--seeds", seeds("hosts", hosts), "--no-sitemaps", "--budget", "100"], [0, 1, 2, 3, 4]);
  return `${site}/`;
}

async function big() {
  const hosts = 10;
  const urls = await web(hosts, ["--pages", String(BIG_PAGES / hosts), "--day", "10s", "--median-bytes", "1500", "--static-share", "0.3"]);
  await crawl("big.db", ["--seeds", seeds("big", urls), "--per-host", "8"]);
  await crawl("big.db", ["--per-host", "8", "--budget", "4000"]);
  await crawl("big.db", ["--per-host", "8", "--budget", "4000"]);
}

// A store's dashboard, with what the views need of it: pages and a site.
async function site(name, store, flags = []) {
  const base = await serve(store, flags);
  return { name, store, base };
}

async function json(base, place) {
  const answer = await fetch(base + place);
  if (!answer.ok) throw new Error(`${place} answered with ${answer.status}`);
  return answer.json();
}

async function pageOf(base, url) {
  const answer = await fetch(`${base}/page?url=${encodeURIComponent(url)}`, { redirect: "manual" });
  if (answer.status !== 303) throw new Error(`the page of ${url} answered with ${answer.status}`);
  return answer.headers.get("location");
}

// Adds the page that changed most and its site.
async function withPlaces(made) {
  const pages = await json(made.base, "/api/v1/pages?sort=changes&limit=1");
  const first = pages.items[0];
  made.page = await pageOf(made.base, first.url);
  made.host = encodeURIComponent(new URL(first.url).host);
  return made;
}

// Makes all stores and puts up their dashboards.
async function make(log) {
  const timed = async (name, work) => {
    const begun = Date.now();
    const made = await work();
    log(`${name}: ready after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    return made;
  };
  const sites = {};
  sites.none = await site("no store", "none.db");
  await timed("empty", empty);
  sites.empty = await withPlaces(await site("an empty store", "empty.db"));
  await timed("little", little);
  sites.little = await withPlaces(await site("a little store", "little.db"));
  sites.live = await withPlaces(await site("a store that is written to", "live.db"));
  sites.token = await site("a dashboard with a token", "little.db", ["--token", TOKEN]);
  const home = await timed("hostile", hostile);
  sites.hostile = await withPlaces(await site("a hostile store", "hostile.db"));
  sites.hostile.home = home;
  await timed("big", big);
  sites.big = await withPlaces(await site("a big store", "big.db"));
  return sites;
}

module.exports = { BIG_PAGES, HOSTS, PACE, TOKEN, json, make, pageOf, seeds };
