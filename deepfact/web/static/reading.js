// The texts of a case: tabs, quotes in their source, and picking evidence by selection or by
// sentence. What is picked is a range of the stored text, counted in code points; the server cuts
// the words itself. Text is only ever put in with textContent.

const length = (text) => [...text].length;
const $ = (id) => document.getElementById(id);

export class Reading {
  constructor() {
    this.panels = [...document.querySelectorAll(".panel")];
    this.tabs = [...document.querySelectorAll("[role=tab]")];
    this.quotes = [...document.querySelectorAll(".side .to-source")].filter((a) => a.dataset.quote);
    this.at = -1; // which quote is shown
    this.range = null; // {panel, from, to, words}
    this.cursor = null; // {first, last} among the sentences of the panel
    if (this.tabs.length) this.makeTabs();
    document.addEventListener("selectionchange", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.fromSelection(), 120);
    });
    for (const link of document.querySelectorAll(".to-source")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.show(link.dataset.open, link.dataset.quote);
      });
    }
  }

  makeTabs() {
    const list = this.tabs[0].parentElement;
    list.hidden = false;
    for (const panel of this.panels) {
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `tab-${panel.id}`);
    }
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) this.open(tab.getAttribute("aria-controls"));
    });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.turn(step);
      this.tabs.find((tab) => tab.tabIndex === 0).focus();
    });
    this.open(this.tabs[0].getAttribute("aria-controls"));
  }

  get panel() {
    return this.panels.find((panel) => !panel.hidden);
  }

  open(id) {
    if (!this.panels.some((panel) => panel.id === id)) return;
    for (const panel of this.panels) panel.hidden = panel.id !== id;
    for (const tab of this.tabs) {
      const chosen = tab.getAttribute("aria-controls") === id;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 20; // sideways only
    }
    this.drop();
  }

  turn(step) {
    const now = this.tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const next = this.tabs[(now + step + this.tabs.length) % this.tabs.length];
    if (next) this.open(next.getAttribute("aria-controls"));
  }

  // Open a text, at a quote of it when one is named.
  show(id, quote) {
    this.open(id);
    for (const mark of document.querySelectorAll("mark.lit")) mark.classList.remove("lit");
    const panel = this.panel;
    const marks = quote ? [...panel.querySelectorAll("mark")].filter((m) => m.dataset.q.split(" ").includes(quote)) : [];
    for (const mark of marks) mark.classList.add("lit");
    const narrow = matchMedia("(max-width: 63.99rem)").matches;
    if (narrow) $("reading").scrollIntoView({ block: "start" });
    const text = panel.querySelector(".text");
    if (marks.length) text.scrollTop += marks[0].getBoundingClientRect().top - text.getBoundingClientRect().top - text.clientHeight / 3;
    text.focus({ preventScroll: true });
  }

  nextQuote(step) {
    if (!this.quotes.length) return;
    this.at = (this.at + step + this.quotes.length) % this.quotes.length;
    const link = this.quotes[this.at];
    this.show(link.dataset.open, link.dataset.quote);
  }

  // --- picking ---------------------------------------------------------------------------

  fromSelection() {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) {
      if (this.range && !this.cursor) this.drop();
      return;
    }
    const range = selection.getRangeAt(0);
    const panel = this.panels.find((p) => !p.hidden && range.intersectsNode(p.querySelector(".text")));
    if (!panel || !panel.dataset.number || panel.dataset.generated) return;
    const leaves = [...panel.querySelectorAll("[data-at]")].filter((leaf) => range.intersectsNode(leaf));
    if (!leaves.length) return;
    const edge = (leaf, container, offset, atEnd) => {
      const start = Number(leaf.dataset.at);
      const all = leaf.dataset.raw ? Number(leaf.dataset.raw) : length(leaf.textContent);
      if (leaf.dataset.raw || container.nodeType !== Node.TEXT_NODE || !leaf.contains(container)) return atEnd ? start + all : start;
      return start + length(container.data.slice(0, offset));
    };
    const from = edge(leaves[0], range.startContainer, range.startOffset, false);
    const to = edge(leaves.at(-1), range.endContainer, range.endOffset, true);
    this.uncursor();
    if (from < to) this.offer({ panel, from, to, words: selection.toString() });
  }

  // Select a sentence with the keyboard: 1 is the next, -1 the one before; or reach further.
  sentence(step, extend) {
    const panel = this.panel;
    if (!panel || !panel.dataset.number || panel.dataset.generated) return;
    const all = [...panel.querySelectorAll(".s")];
    if (!all.length) return;
    if (!this.cursor) {
      const text = panel.querySelector(".text").getBoundingClientRect();
      const lit = panel.querySelector("mark.lit")?.closest(".s");
      const seen = lit ? all.indexOf(lit) : all.findIndex((s) => s.getBoundingClientRect().bottom > text.top + 4);
      this.cursor = { first: Math.max(0, seen), last: Math.max(0, seen) };
    } else if (extend) {
      this.cursor.last = Math.min(all.length - 1, Math.max(this.cursor.first, this.cursor.last + step));
    } else {
      const next = Math.min(all.length - 1, Math.max(0, (step > 0 ? this.cursor.last : this.cursor.first) + step));
      this.cursor = { first: next, last: next };
    }
    document.getSelection().removeAllRanges();
    const chosen = all.slice(this.cursor.first, this.cursor.last + 1);
    for (const old of panel.querySelectorAll(".cursor")) old.classList.remove("cursor");
    for (const one of chosen) one.classList.add("cursor");
    const text = panel.querySelector(".text");
    const box = chosen.at(-1).getBoundingClientRect(), frame = text.getBoundingClientRect();
    if (box.top < frame.top + 20 || box.bottom > frame.bottom - 40) text.scrollTop += box.top - frame.top - text.clientHeight / 3;
    this.offer({
      panel,
      from: Number(chosen[0].dataset.from),
      to: Number(chosen.at(-1).dataset.to),
      words: chosen.map((one) => one.textContent).join(" "),
    });
  }

  offer(range) {
    const bar = $("pick");
    if (!bar) return;
    this.range = range;
    $("pick-words").textContent = `“${range.words.trim()}”`;
    bar.hidden = false;
  }

  take(stance) {
    if (!this.range) return false;
    const { panel, from, to, words } = this.range;
    const value = `${panel.dataset.number}:${from}:${to}:${stance}`;
    addPiece({ value, text: words.trim() });
    document.getSelection().removeAllRanges();
    this.drop();
    return true;
  }

  uncursor() {
    for (const old of document.querySelectorAll(".cursor")) old.classList.remove("cursor");
    this.cursor = null;
  }

  drop() {
    this.uncursor();
    this.range = null;
    const bar = $("pick");
    if (bar) bar.hidden = true;
  }
}

// A piece of evidence in the form.
export function addPiece({ value, text }) {
  const list = $("picked");
  if ([...list.querySelectorAll("input")].some((input) => input.value === value)) return;
  const piece = $("piece").content.cloneNode(true);
  const [number, , , stance] = value.split(":");
  piece.querySelector("input").value = value;
  piece.querySelector("blockquote").textContent = text;
  piece.querySelector(".stance").textContent = stance;
  piece.querySelector(".from").textContent = `S${number}`;
  list.append(piece);
  list.dispatchEvent(new Event("input", { bubbles: true }));
}
