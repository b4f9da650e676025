// The page of a page: moves over its versions without loading all of it again, and loads what takes longer when it is asked for.
// Without it the form has a button, and the links lead to pages of their own.
(() => {
  "use strict";
  let asked = 0;

  // Asks for a page, and puts its part with this id in the place of the one that is here. Gives that part, if all went well.
  async function replace(href, id) {
    const part = document.getElementById(id);
    if (!part) return null;
    const turn = ++asked;
    part.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(href, { headers: { Accept: "text/html" }, redirect: "error" });
      const text = await answer.text();
      if (!answer.ok || turn !== asked) return null;
      const other = new DOMParser().parseFromString(text, "text/html").getElementById(id);
      if (!other) return null;
      part.replaceChildren(...Array.from(other.childNodes, (node) => document.importNode(node, true)));
      return other;
    } catch {
      return null;
    } finally {
      part.removeAttribute("aria-busy");
    }
  }

  // The same of a part that may still be worked out: it is asked for until it is there.
  async function worked(href, id) {
    for (;;) {
      const part = await replace(href, id);
      if (!part) return false;
      if (!("underWay" in part.dataset)) return true;
      await new Promise((done) => setTimeout(done, 2000));
    }
  }

  async function versions(href) {
    const focused = document.activeElement && document.activeElement.id;
    if (!await replace(href, "versions")) return;
    history.replaceState(null, "", href);
    const again = focused && document.getElementById(focused);
    if (again) again.focus({ preventScroll: true });
  }

  document.addEventListener("input", (event) => {
    const range = event.target.closest("[data-slider] input[type=range]");
    if (!range) return;
    const time = range.list && Array.from(range.list.options).find((option) => option.value === range.value);
    const shown = document.getElementById("v-shown");
    if (shown) shown.textContent = time ? time.label : range.value;
  });

  document.addEventListener("change", (event) => {
    const range = event.target.closest("[data-slider] input[type=range]");
    if (range) versions(`${location.pathname}?v=${encodeURIComponent(range.value)}`);
  });

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const step = event.target.closest("a[data-part]");
    const more = event.target.closest("a[data-into]");
    if (step) {
      event.preventDefault();
      versions(step.getAttribute("href").replace(/#.*/, ""));
    } else if (more) {
      event.preventDefault();
      more.textContent = "ranking all pages …";
      worked(more.href, more.dataset.into).then((done) => { if (!done) location.assign(more.href); });
    }
  });
})();
