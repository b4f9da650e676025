"use strict";
// A site on loopback that means harm to those who look at its pages in a browser: markup and scripts in titles, texts and
// addresses, marks that turn the direction of writing, addresses of thousands of characters. Its pages change once and stay so.
const http = require("node:http");

const SCRIPT = "<script>window.isHacked=1;alert(1)</script>";
const IMAGE = "\"><img src=x onerror=\"window.isHacked=2\">";
const TURNED = "\u202Etxt.exe\u2066 \u200Fleft\u061C and \u2069\u202Cright";
const STACKED = "Z" + "\u0301\u0302\u0303\u0304".repeat(200) + "algo";

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

// A long address: as long as crawlers take one.
const long = (length) => `/long/${"a".repeat(length)}`;

const FOOT = ["Written by the first people of this house", "Written by other people, who bought all of it last night"];

const words = (seed, many) => Array.from({ length: many }, (_, at) => `w${seed}x${at}`).join(" ");

// Pages by path: a title and a text, by how often the page was asked for.
const PAGES = {
  "/script": [SCRIPT, (old) => `${SCRIPT} ${IMAGE} ${old ? "the old text stood here before" : `</ins></del><script src="https://evil.example/x.js"></script> ${words(1, 40)}`}`],
  "/image": [IMAGE, (old) => `${old ? words(2, 30) : `${words(3, 30)} javascript:alert(1) <iframe src="//evil.example">`}`],
  "/turned": [TURNED, (old) => `${TURNED} ${old ? words(4, 20) : `\u2067${words(5, 20)}\u202E`}`],
  "/rtl": ["عنوان طويل للصفحة مع ١٢٣ أرقام", (old) => (old ? "نص قديم هنا في الصفحة" : "نص جديد تماما هنا في هذه الصفحة بعد التغيير")],
  "/title": ["T".repeat(5000), (old) => (old ? "short" : "W".repeat(8000))],
  "/stacked": [STACKED, (old) => (old ? STACKED : `${STACKED} ${STACKED}`)],
  "/empty": ["", () => ""],
  "/nul": ["a\u0000b\u0007c\u001b[31mred", (old) => `\u0000\u0008\u001b]0;x\u0007 ${old ? words(6, 20) : words(7, 20)}`],
  "/braces": ["{{ frame.title }} {% block %} ${1+1} %s %n", (old) => (old ? words(8, 20) : "{{7*7}} ${7*7} #{7*7}")],
  "/quotes": ["' onmouseover='window.isHacked=3' \" autofocus onfocus=\"window.isHacked=4", (old) => (old ? words(9, 20) : words(10, 20))],
  [long(1500)]: ["A long address", (old) => (old ? words(11, 20) : words(12, 20))],
  [long(1900)]: ["A longer address", (old) => (old ? words(13, 20) : words(14, 20))],
  "/q?a=%3Cscript%3Ealert(1)%3C/script%3E&b=%22%27%E2%80%AE": ["An address with markup", (old) => (old ? words(15, 20) : words(16, 20))],
};
for (let number = 0; number < 30; number++) PAGES[`/same/${number}`] = [`Page ${number} of a template`, (old) => `${words(100 + number, 60)}</p><p>${escape(FOOT[old ? 0 : 1])}`];

// Starts it; gives its address, without a slash at its end.
async function hostileSite() {
  const asked = new Map();
  const links = [...Object.keys(PAGES), long(5000), `/${"sub/".repeat(400)}`, "javascript:window.isHacked=5", "data:text/html,<script>alert(1)</script>"];
  const server = http.createServer((request, response) => {
    const times = (asked.get(request.url) || 0) + 1;
    asked.set(request.url, times);
    const send = (status, type, body) => { response.writeHead(status, { "Content-Type": type }); response.end(body); };
    if (request.url === "/robots.txt") return send(200, "text/plain", "User-agent: *\nDisallow: /forbidden<script>\n");
    if (request.url === "/") {
      const list = links.map((link) => `<li><a href="${escape(link)}">${escape(link.slice(0, 80))}</a></li>`).join("");
      return send(200, "text/html; charset=utf-8", `<!doctype html><title>${escape(SCRIPT + TURNED)}</title><h1>Home</h1><ul>${list}</ul>`);
    }
    if (request.url === long(5000)) return send(200, "text/html", "<title>The longest</title><p>as long as it can be</p>");
    const page = PAGES[request.url];
    if (!page) return send(404, "text/html", `<title>${escape(SCRIPT)}</title>`);
    const [title, text] = page;
    const body = request.url.startsWith("/same/") ? text(times < 2) : escape(text(times < 2));
    return send(200, "text/html; charset=utf-8", `<!doctype html><title>${escape(title)}</title><h1>${escape(title)}</h1><p>${body}</p>`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

module.exports = { hostileSite };
