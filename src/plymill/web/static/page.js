// What HTML alone cannot do: keys, times of the place, the clipboard, and words for screen readers.
"use strict";

// Keys: whatever carries data-key is clicked. Not while somebody types, nor with other keys held.
// Who types faster than the server answers loses nothing: his keys wait for their turn.
const waiting = [];
const MOST_WAITING = 20;
const KEYS = [..."1234567bf", "Backspace", "ArrowLeft", "ArrowRight", "Home", "End"];
let onTheWay = false;

const byKey = (key) => document.querySelector(`[data-key="${CSS.escape(key)}"]`);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea, select")) return;
  if (onTheWay ? !KEYS.includes(event.key) : byKey(event.key) === null) return;
  event.preventDefault();
  if (onTheWay) {
    if (waiting.length < MOST_WAITING) waiting.push(event.key);
  } else {
    byKey(event.key).click();
  }
});

const isWalk = (event) => event.detail.target?.id === "main";
document.addEventListener("htmx:beforeRequest", (event) => { if (isWalk(event)) onTheWay = true; });
document.addEventListener("htmx:afterRequest", (event) => {
  if (!isWalk(event)) return;
  // Once what came is in its place.
  setTimeout(() => {
    onTheWay = false;
    while (waiting.length && !onTheWay) byKey(waiting.shift())?.click();
  }, 30);
});

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([title])")) {
    const moment = new Date(time.dateTime);
    const today = moment.toDateString() === new Date().toDateString();
    time.title = time.textContent;
    time.textContent = today ? moment.toLocaleTimeString() : moment.toLocaleString();
  }
}

function copyButtons(root) {
  if (!navigator.clipboard) return;
  for (const button of root.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied.");
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy link"; }, 1500);
    });
  }
}

function say(text) {
  document.getElementById("said").textContent = text;
}

function prepare(root) {
  localTimes(root);
  copyButtons(root);
}

document.addEventListener("DOMContentLoaded", () => prepare(document));
document.addEventListener("htmx:afterSettle", (event) => {
  prepare(document);
  const told = event.target.querySelector?.("[data-say]") ?? null;
  if (told !== null) say(told.dataset.say);
});

// An answer that is an error page is shown as well, where a person asked; not in what is polled.
document.addEventListener("htmx:beforeSwap", (event) => {
  const status = event.detail.xhr.status;
  if (status >= 400 && event.detail.target.id === "main") event.detail.shouldSwap = true;
});

// While the server is away, what is shown may be old.
const reachable = (yes) => { document.getElementById("unreachable").hidden = yes; };
document.addEventListener("htmx:sendError", () => reachable(false));
document.addEventListener("htmx:afterOnLoad", () => reachable(true));
document.addEventListener("htmx:beforeOnLoad", () => reachable(true));
