// Makes the pages live. Everything works without it: links are links and forms post.
"use strict";
const root = document.documentElement;
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

// Light, dark, or as the system wishes; a cookie, so that the server draws the page so.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-theme-switch]");
  if (!button) return;
  const order = ["", "light", "dark"];
  const theme = order[(order.indexOf(root.dataset.theme || "") + 1) % order.length];
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  document.cookie = `theme=${theme}; path=/; max-age=31536000; samesite=strict`;
  button.textContent = `Theme: ${theme || "system"}`;
});

// An id is copied by a click.
document.addEventListener("click", async (event) => {
  const id = event.target.closest("[data-copy]");
  if (!id) return;
  try {
    await navigator.clipboard.writeText(id.dataset.copy);
    announce("Copied.");
  } catch { announce(id.dataset.copy); }
});

// Relative times stay true.
const spans = [[60, "s", 1], [3600, "min", 60], [172800, "h", 3600], [Infinity, "d", 86400]];
function relate(time) {
  const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
  const [, unit, size] = spans.find(([end]) => Math.abs(seconds) < end);
  const text = `${Math.round(Math.abs(seconds) / size)} ${unit}`;
  time.textContent = seconds < 0 ? `in ${text}` : `${text} ago`;
}
setInterval(() => $$("time[data-relative]").forEach(relate), 15000);

// One region tells a screen reader what changed, every few seconds and not at each event.
const region = $("#announcements");
let pending = "";
function announce(text) { region.textContent = text; }
setInterval(() => { if (pending) { announce(pending); pending = ""; } }, 5000);

// Live parts: the server sends {target, html, how}; whoever types in a part keeps it as it is.
let unseen = 0;
const following = () => innerHeight + scrollY >= document.body.scrollHeight - 120;
function put({ target, html, how, words }) {
  const element = document.getElementById(target);
  if (!element) return;
  if (words) pending = words;
  if (how !== "replace") {
    const end = following();
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const nodes = [...fresh.content.children];
    nodes.forEach((node) => node.classList.add("new"));
    if (how === "append") element.append(...nodes); else element.prepend(...nodes);
    trim(element, how);
    if (how === "append" && element.dataset.follow !== undefined) {
      if (end) scrollTo(0, document.body.scrollHeight); else count(nodes.length);
    }
  } else if (element.outerHTML !== html && !element.contains(document.activeElement)) {
    element.outerHTML = html;
  }
}
function trim(element, how) {
  const most = Number(element.dataset.most || 400);
  while (element.children.length > most) (how === "append" ? element.firstElementChild : element.lastElementChild).remove();
}
function count(more) {
  unseen += more;
  let pill = $(".pill");
  if (!pill) {
    pill = document.createElement("button");
    pill.className = "pill";
    pill.addEventListener("click", () => scrollTo(0, document.body.scrollHeight));
    document.body.append(pill);
  }
  pill.textContent = `${unseen} new`;
}
addEventListener("scroll", () => { if (following()) { unseen = 0; $(".pill")?.remove(); } }, { passive: true });

const live = $("[data-live]");
if (live) {
  const lost = $("#lost");
  const reopenMs = 10000;  // as Retry-After says
  let waiting = [];
  let frame = 0;
  const connect = () => {
    const source = new EventSource(live.dataset.live);
    source.addEventListener("part", (event) => {
      waiting.push(JSON.parse(event.data));
      frame ||= requestAnimationFrame(() => { frame = 0; const parts = waiting; waiting = []; parts.forEach(put); });
    });
    source.addEventListener("end", () => source.close());
    source.addEventListener("open", () => { lost.hidden = true; });
    source.addEventListener("error", () => {
      lost.hidden = false;
      // A browser tries again by itself after a lost connection, but not after a refusal such as 429.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, reopenMs);
    });
  };
  connect();
}

// A form that says while one types what would come of it.
for (const form of $$("form[data-preview]")) {
  let timer = 0, last = null;
  addEventListener("pageshow", () => form.dispatchEvent(new Event("input")));
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      last?.abort();
      last = new AbortController();
      try {
        const answer = await fetch(form.dataset.preview, { method: "POST", body: new FormData(form), signal: last.signal });
        const target = document.getElementById(form.dataset.target);
        if (answer.ok) target.innerHTML = await answer.text();
      } catch (error) { if (error.name !== "AbortError") announce("The estimate cannot be had now."); }
    }, 300);
  });
}
// A dropped file becomes topics.
for (const area of $$("textarea[data-drop]")) {
  area.addEventListener("dragover", (event) => event.preventDefault());
  area.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    area.value = await file.text();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// A fact opens in a panel; its address stays a page of its own.
const panel = $("#panel");
let opener = null;
async function openPanel(link) {
  const answer = await fetch(link.href, { headers: { "X-Part": "panel" } });
  if (!answer.ok) { location.href = link.href; return; }
  $(".body", panel).innerHTML = await answer.text();
  if (!panel.contains(link)) opener = link;
  if (!panel.open) panel.showModal();
  panel.scrollTop = 0;
  reveal(panel);
}
// The quote is scrolled to within its text, so that the statement stays in sight.
function reveal(within) {
  const quote = $("mark[data-quote]", within);
  const text = quote?.closest(".snapshot");
  if (text) text.scrollTop += quote.getBoundingClientRect().top - text.getBoundingClientRect().top - text.clientHeight / 3;
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-panel]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  openPanel(link).catch(() => { location.href = link.href; });
});
panel?.addEventListener("close", () => opener?.focus());
$(".close", panel || document)?.addEventListener("click", () => panel.close());
reveal(document);

// Confirm what cannot be undone.
document.addEventListener("submit", (event) => {
  const words = event.submitter?.dataset.confirm;
  if (words && !confirm(words)) event.preventDefault();
});

// Keyboard: / search, j k next and previous, Enter open, Esc close, ? help.
const help = $("#help");
function step(by) {
  const rows = $$("[data-row]").filter((row) => row.offsetParent);
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by))];
  (row.matches("a") ? row : $("a", row))?.focus();
}
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = { "/": () => $("input[type=search]")?.focus(), j: () => step(1), k: () => step(-1), "?": () => help?.showModal() }[event.key];
  if (act) { event.preventDefault(); act(); }
});
