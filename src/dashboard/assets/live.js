// Keeps a page up to date while a crawl runs: listens to /events, and when something happened, asks for this page again and
// puts the parts that are marked `data-live` (each with an id) in the place of those that are here. Without it, a page is as it
// was when it was asked for.
(() => {
  "use strict";
  const LEAST_PAUSE = 2000; // milliseconds between two such requests
  const LONGEST_PAUSE = 60000; // milliseconds before the connection is tried again
  const state = document.getElementById("live-state");
  const say = (text) => { if (state && state.textContent !== text) state.textContent = text; };
  let source = null, asked = 0, timer = 0, isBehind = false, pause = 1000;

  // Something that the person works with must not be taken away from under them.
  const isInUse = (part) => part.contains(document.activeElement) && document.activeElement !== part
    && document.activeElement.matches("input, select, textarea, [data-keep]");

  async function renew() {
    timer = 0;
    if (document.hidden) { isBehind = true; return; }
    isBehind = false;
    asked = Date.now();
    let text;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
      if (!answer.ok) return;
      text = await answer.text();
    } catch { return; }
    const next = new DOMParser().parseFromString(text, "text/html");
    for (const part of document.querySelectorAll("[data-live][id]")) {
      const other = next.getElementById(part.id);
      if (!other || isInUse(part) || part.innerHTML === other.innerHTML) continue;
      const focused = part.contains(document.activeElement) ? document.activeElement : null;
      const href = focused && focused.getAttribute("href");
      part.replaceChildren(...Array.from(other.childNodes, (node) => document.importNode(node, true)));
      if (href) {
        const again = Array.from(part.querySelectorAll("a")).find((link) => link.getAttribute("href") === href);
        if (again) again.focus({ preventScroll: true });
      }
      part.classList.remove("fresh");
      void part.offsetWidth;
      part.classList.add("fresh");
    }
    document.dispatchEvent(new CustomEvent("freshet:renewed"));
  }

  function soon() {
    if (!timer) timer = setTimeout(renew, Math.max(0, LEAST_PAUSE - (Date.now() - asked)));
  }

  function words(event) {
    if (!event.is_open) return "no cycle is open";
    const budget = event.budget === null ? "" : ` of ${event.budget.toLocaleString("en")}`;
    return `cycle ${event.cycle_id}: ${event.requests.toLocaleString("en")}${budget} requests`;
  }

  function connect() {
    source = new EventSource("/events");
    source.addEventListener("open", () => { pause = 1000; });
    source.addEventListener("state", (message) => say(words(JSON.parse(message.data))));
    source.addEventListener("news", (message) => {
      const event = JSON.parse(message.data);
      say(words(event));
      document.dispatchEvent(new CustomEvent("freshet:news", { detail: event }));
      soon();
    });
    source.addEventListener("error", () => {
      say("not live: trying again");
      source.close();
      setTimeout(connect, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    });
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden && isBehind) soon(); });
  // A page that waits for a store looks again until there is one.
  if (document.querySelector("[data-wait]")) setInterval(() => location.reload(), 5000);
  else if (window.EventSource && document.querySelector("[data-live]")) connect();
})();
