// Keys, drafts and time on a case. Everything works without this file too, by plain forms and
// links; what is kept is kept by the server.

import { Reading, addPiece } from "./reading.js";

const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const data = document.body.dataset;
root.classList.add("js");

// --- what is remembered in this browser: letter keys on or off, and unfinished forms -----------

const memory = {
  get(key) {
    try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
  },
  set(key, value) {
    try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* private window: no drafts */ }
  },
  forget(prefix) {
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
    } catch { /* as above */ }
  },
};
const draftOf = (id) => `${data.run} draft ${data.who} ${id} `;
if (data.kept) memory.forget(draftOf(data.kept));

// --- the form ----------------------------------------------------------------------------------

const form = $("decision");
let seconds = 0;
if (form) {
  const key = draftOf(data.case) + data.steps;
  const field = (name) => form.elements.namedItem(name);
  const save = () => memory.set(key, {
    decision: field("decision").value, label: field("label").value, rationale: field("rationale").value,
    notes: field("notes").value, quote: field("quote").value, seconds,
    evidence: [...$("picked").children].map((li) => ({ value: li.querySelector("input").value, text: li.querySelector("blockquote").textContent })),
  });
  const draft = memory.get(key);
  if (draft) {
    seconds = draft.seconds || 0;
    if (!$("errors") && !$("warning")) {
      for (const name of ["decision", "label", "rationale", "notes", "quote"]) if (draft[name]) field(name).value = draft[name];
      if (draft.notes) $("notes").open = true;
      for (const piece of draft.evidence || []) addPiece(piece);
    }
  }
  form.addEventListener("input", save);
  form.addEventListener("click", (event) => {
    const button = event.target.closest(".remove");
    if (!button) return;
    button.closest("li").remove();
    $("f-rationale").focus();
    save();
  });
  form.addEventListener("submit", () => {
    $("seconds").value = seconds;
    save();
    form.querySelector(".primary").disabled = true;
  });
  // Time counts while the page is seen and somebody is there.
  let seen = Date.now();
  for (const kind of ["pointermove", "keydown", "scroll", "touchstart"]) document.addEventListener(kind, () => { seen = Date.now(); }, { passive: true, capture: true });
  setInterval(() => { if (document.visibilityState === "visible" && Date.now() - seen < 120000) seconds += 1; }, 1000);
  document.addEventListener("visibilitychange", save);
}
window.addEventListener("pageshow", (event) => {
  for (const button of document.querySelectorAll("button[disabled]")) button.disabled = false;
  if (event.persisted && form) location.reload(); // what is shown may be out of date
});
for (const id of ["errors", "warning"]) if ($(id)) { $(id).focus(); $(id).scrollIntoView({ block: "center" }); break; }

// --- keys --------------------------------------------------------------------------------------

const reading = data.case ? new Reading() : null;
const keys = $("keys"), letters = $("letters");
let on = memory.get("deepfact letter keys") !== false;
const setLetters = (value) => {
  on = value;
  root.classList.toggle("no-letters", !on);
  if (letters) letters.checked = on;
};
setLetters(on);
if (letters) letters.addEventListener("change", () => { setLetters(letters.checked); memory.set("deepfact letter keys", on); });

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do], [data-stance]");
  if (!button) return;
  if (button.dataset.do === "keys") keys.showModal();
  if (button.dataset.do === "drop") { document.getSelection().removeAllRanges(); reading.drop(); }
  if (button.dataset.stance) reading.take(button.dataset.stance);
});

const choose = (key) => {
  const radio = form && form.querySelector(`[name=decision][data-key="${key}"]`);
  if (!radio) return false;
  radio.checked = true;
  radio.dispatchEvent(new Event("input", { bubbles: true }));
  $("decide").scrollIntoView({ block: "nearest" });
  if (key === "n") form.querySelector("[name=label]").focus();
  else radio.focus({ preventScroll: true });
  return true;
};
const press = (key) => {
  const target = document.querySelector(`a[data-key="${key}"], button[data-key="${key}"]`);
  if (target) target.click();
  return Boolean(target);
};
const go = (id) => {
  const target = $(id);
  if (!target) return false;
  const fold = target.closest("details");
  if (fold) fold.open = true;
  target.focus();
  target.scrollIntoView({ block: "center" });
  return true;
};
const done = (action) => { action(); return true; };
const ACTIONS = {
  a: () => choose("a"), b: () => choose("b"), n: () => choose("n"), c: () => choose("c"),
  r: () => go("f-rationale"), m: () => go("f-notes"), s: () => press("s"), u: () => press("u"),
  o: () => done(() => location.assign("/")), "?": () => keys && done(() => keys.showModal()),
};
const READING = {
  t: () => done(() => reading.turn(1)), T: () => done(() => reading.turn(-1)),
  q: () => done(() => reading.nextQuote(1)), Q: () => done(() => reading.nextQuote(-1)),
  j: () => done(() => reading.sentence(1, false)), k: () => done(() => reading.sentence(-1, false)),
  J: () => done(() => reading.sentence(1, true)), K: () => done(() => reading.sentence(-1, true)),
  1: () => reading.take("supports"), 2: () => reading.take("contradicts"), 3: () => reading.take("context"),
};

document.addEventListener("keydown", (event) => {
  if (event.isComposing || (keys && keys.open)) return;
  const at = document.activeElement;
  const writing = at.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    if (form && !form.querySelector(".primary").disabled) { event.preventDefault(); form.requestSubmit(); }
    return;
  }
  if (event.key === "Escape") {
    if (writing) at.blur();
    if (reading) { document.getSelection().removeAllRanges(); reading.drop(); }
    return;
  }
  if (writing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter") {
    if (!at.matches("a, button, summary, input, .text") && press("Enter")) event.preventDefault();
    return;
  }
  if (!on) return;
  const action = (reading && READING[event.key]) || ACTIONS[event.key];
  if (action && action()) event.preventDefault();
});
