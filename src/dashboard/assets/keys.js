// Keys of the inbox: j and k go from change to change, e marks one as read or not read, o opens its page. All of it can be done
// without them, with links and buttons.
(() => {
  "use strict";
  const entries = () => Array.from(document.querySelectorAll("[data-entry]"));
  const current = () => entries().findIndex((entry) => entry.contains(document.activeElement));

  function go(to) {
    const all = entries();
    const entry = all[Math.min(Math.max(to, 0), all.length - 1)];
    if (!entry) return;
    entry.focus({ preventScroll: true });
    entry.scrollIntoView({ block: "nearest" });
  }

  // Sends the form of an entry without leaving the page. If that fails, the page is asked for as without a script.
  async function mark(at) {
    const entry = entries()[at];
    const form = entry && entry.querySelector("form");
    const button = form && form.querySelector("button[name=read]");
    if (!button) return;
    const fields = new URLSearchParams(new FormData(form));
    fields.set("read", button.value);
    try {
      const answer = await fetch(form.action, { method: "POST", body: fields, headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
    } catch {
      form.requestSubmit(button);
      return;
    }
    const isRead = button.value === "yes";
    button.value = isRead ? "no" : "yes";
    button.textContent = isRead ? "Mark as not read" : "Mark as read";
    entry.classList.toggle("is-read", isRead);
    if (isRead) go(at + 1);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, select, textarea, [contenteditable]")) return;
    const at = current();
    if (event.key === "j") go(at + 1);
    else if (event.key === "k") go(at < 0 ? 0 : at - 1);
    else if (event.key === "e" && at >= 0) mark(at);
    else if (event.key === "o" && at >= 0) entries()[at].querySelector("a").click();
    else return;
    event.preventDefault();
  });
})();
