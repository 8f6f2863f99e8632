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

// Live parts: the server sends {target, html, how}. Only what differs is touched.
let unseen = 0;
const following = () => innerHeight + scrollY >= document.body.scrollHeight - 120;
function put({ target, html, how, words }) {
  const element = document.getElementById(target);
  if (!element) return;
  if (words) pending = words;
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  if (how !== "replace") {
    const end = following();
    const present = byKey(element);
    const nodes = [...fresh.content.children].filter((node) => {
      const same = present.get(keyOf(node));  // after a lost connection the server sends items again
      if (same) morph(same, node);
      return !same;
    });
    nodes.forEach((node) => node.classList.add("new"));
    if (how === "append") element.append(...nodes); else element.prepend(...nodes);
    trim(element, how);
    if (how === "append" && element.dataset.follow !== undefined) {
      if (end) scrollTo(0, document.body.scrollHeight); else count(nodes.length);
    }
  } else if (fresh.content.firstElementChild) {
    keepFocus(element, () => morph(element, fresh.content.firstElementChild));
  }
}
function trim(element, how) {
  const most = Number(element.dataset.most || 400);
  while (element.children.length > most) {
    const last = how === "append" ? element.firstElementChild : element.lastElementChild;
    if (last.contains(document.activeElement)) break;
    last.remove();
  }
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
      frame ||= requestAnimationFrame(() => { frame = 0; const parts = waiting; waiting = []; parts.forEach(put); rove(); });
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
  const answer = await fetch(link.getAttribute("href"), { headers: { "X-Part": "panel" } });
  if (!answer.ok) { location.href = link.getAttribute("href"); return; }
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
  openPanel(link).catch(() => { location.href = link.getAttribute("href"); });
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

// Rows have keys: a row is the same one wherever it stands. A link or a form is another one as soon as it leads elsewhere, so that
// Enter only acts on what was on the screen.
const BROWSERS = new Set(["open", "tabindex"]);  // attributes that the server does not know
function keyOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  if (node.dataset.key || node.id) return node.dataset.key || node.id;
  if (node.matches("form")) return node.getAttribute("action");
  if (node.matches("a")) return node.getAttribute("href");
  return node.matches("tr, li") ? $("a[href]", node)?.getAttribute("href") : "";
}
function byKey(element) {
  const children = new Map();
  for (const child of element.children) {
    const key = keyOf(child);
    if (key && !children.has(key)) children.set(key, child);
  }
  return children;
}
// Makes a node like a fresh one. Unchanged parts keep their focus, scroll and typed text.
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeName !== fresh.nodeName) { old.replaceWith(fresh); return; }
  if (old.nodeType !== Node.ELEMENT_NODE) { old.nodeValue = fresh.nodeValue; return; }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !BROWSERS.has(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && !BROWSERS.has(name)) old.setAttribute(name, value);
  const present = byKey(old);
  const staying = byKey(fresh);
  present.forEach((child, key) => { if (!staying.has(key)) child.remove(); });
  let at = old.firstChild;
  for (const node of [...fresh.childNodes]) {
    const key = keyOf(node);
    const same = key ? present.get(key) : at && !keyOf(at) && at.nodeName === node.nodeName && at;
    present.delete(key);
    if (!same) { old.insertBefore(node, at); continue; }
    while (at && at !== same && !keyOf(at)) at = removed(at);
    if (at === same) at = at.nextSibling; else old.insertBefore(same, at);
    morph(same, node);
  }
  while (at) at = removed(at);
}
function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}
// If the focused row leaves the list, the row in its place gets the focus, which is announced.
function keepFocus(element, change) {
  const focus = document.activeElement;
  if (!element.contains(focus)) { change(); return; }
  const rows = $$("[data-row]", element);
  const at = rows.findIndex((row) => row.contains(focus));
  change();
  if (document.activeElement === focus) return;
  if (focus.isConnected) { focus.focus({ preventScroll: true }); return; }
  const left = $$("[data-row]", element);
  const heir = at < 0 ? $("a, button", element) : $("a", left[Math.min(at, left.length - 1)] || element);
  heir?.focus({ preventScroll: true });
  pending = "The item you were on has left the list.";
}

// A strip is one tab stop; arrow keys move in it. Without this script each of its links is one.
function rove(current = null) {
  for (const strip of $$("[data-roving]")) {
    const links = $$("a", strip);
    const stop = strip.contains(current) ? current : links.find((link) => link.getAttribute("tabindex") === "0") || links[0];
    for (const link of links) if (link.getAttribute("tabindex") !== (link === stop ? "0" : "-1")) link.tabIndex = link === stop ? 0 : -1;
  }
}
rove();
document.addEventListener("focusin", (event) => { if (event.target.closest("[data-roving] a")) rove(event.target); });
document.addEventListener("keydown", (event) => {
  const strip = event.target.closest("[data-roving]");
  if (!strip || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const links = $$("a", strip);
  const at = links.indexOf(event.target);
  const broken = links.findIndex((link) => link.offsetTop !== links[0].offsetTop);
  const width = broken < 0 ? links.length : broken;  // cells in a line
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + width, ArrowUp: at - width, Home: 0, End: links.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  links[to]?.focus();
});
