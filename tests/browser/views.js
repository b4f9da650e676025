"use strict";
// Every view of the dashboard, as an address and the status that it answers with.

const ERRORS = [
  { name: "an address that is none", path: "/nothing", status: 404 },
  { name: "a filter that is none", path: "/pages?sort=colour", status: 400 },
  { name: "a page that is not known", path: "/page/999999999", status: 404 },
];

// The views of a dashboard that has a store. `site` has `page` and `host`.
const views = (site) => [
  { name: "overview", path: "/" },
  { name: "overview with what was read", path: "/?read=yes" },
  { name: "changes", path: "/changes" },
  { name: "largest changes", path: "/changes?order=largest&since=30d" },
  { name: "sites", path: "/sites" },
  { name: "sites that wait", path: "/sites?waiting=yes" },
  { name: "site", path: `/site?host=${site.host}` },
  { name: "pages", path: "/pages" },
  { name: "page", path: site.page },
  { name: "text of a page", path: `${site.page}/text`, may: [200, 404] },
  { name: "visits of a page", path: `${site.page}/visits` },
  { name: "why a page is due", path: `${site.page}/why` },
  { name: "policies", path: "/policies", settled: "[role=status]" },
  { name: "search", path: "/search" },
  { name: "search for words", path: "/search?q=people" },
  { name: "search for markup", path: "/search?q=%22%3E%3Cscript%3Ewindow.isHacked%3D6%3C%2Fscript%3E%E2%80%AE" },
  ...ERRORS,
];

// Those of one that has none yet: each says so.
const viewsWithoutStore = () => [
  ...["/", "/changes", "/sites", "/pages", "/policies"].map((path) => ({ name: `${path} before there is a store`, path, status: 503 })),
  { name: "search before there is a store", path: "/search", may: [200, 503] },
  ...ERRORS.map((view) => ({ ...view, may: [view.status, 503] })),
];

// The pages of the hostile site, each on its own.
const hostilePages = ["script", "image", "turned", "rtl", "title", "stacked", "empty", "nul", "braces", "quotes", "q?a=%3Cscript%3Ealert(1)%3C/script%3E&b=%22%27%E2%80%AE"];

module.exports = { hostilePages, views, viewsWithoutStore };
