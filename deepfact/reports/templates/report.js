"use strict";
(() => {
  const form = document.querySelector("#disputes .filters");
  if (form) {
    const groups = [...document.querySelectorAll("#disputes tbody")];
    const controls = [...form.querySelectorAll("[data-filter]")];
    const rows = groups.map((group) => {
      const cells = [...group.rows[0].cells].map((cell) => cell.textContent.trim());
      return {
        group,
        text: group.textContent.toLowerCase(),
        round: cells[1],
        before: cells[2],
        after: cells[4],
        ruling: group.rows[0].cells[5].querySelector("strong").textContent,
      };
    });
    const matches = (row, name, value) => {
      if (!value) return true;
      if (name === "text") return row.text.includes(value.toLowerCase());
      if (name === "before" || name === "after") return row[name].endsWith(value);
      return row[name] === value;
    };
    const apply = () => {
      let shown = 0;
      for (const row of rows) {
        const keep = controls.every((c) => matches(row, c.dataset.filter, c.value.trim()));
        row.group.hidden = !keep;
        shown += keep ? 1 : 0;
      }
      form.querySelector("[role=status]").textContent = `${shown} of ${rows.length} disputes shown`;
    };
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }
  // Other long lists: one box that keeps what holds its words.
  for (const box of document.querySelectorAll("[data-find]")) {
    let items;
    const apply = () => {
      items ||= [...document.querySelectorAll(box.dataset.find)].map((item) => ({
        item,
        text: item.textContent.toLowerCase(),
      }));
      const words = box.value.trim().toLowerCase().split(/\s+/);
      let shown = 0;
      for (const { item, text } of items) {
        item.hidden = !words.every((word) => text.includes(word));
        shown += item.hidden ? 0 : 1;
      }
      box.form.querySelector("[role=status]").textContent = `${shown} of ${items.length} shown`;
    };
    box.form.hidden = false;
    box.form.addEventListener("input", apply);
    box.form.addEventListener("submit", (event) => event.preventDefault());
  }
  // A table of which nothing is left says so by going away.
  const fold = () => {
    for (const part of document.querySelectorAll(".lazy.table")) {
      part.hidden = !part.querySelector("tbody:not([hidden])");
    }
  };
  document.addEventListener("input", fold);
  // A link into something folded away opens it.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    const own = target.matches("li, td") && target.querySelector("details");
    for (const part of [own, target.closest("details")]) if (part) part.open = true;
  };
  window.addEventListener("hashchange", reveal);
  reveal();
  // Paper cannot be unfolded: print everything, then fold it again.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
  });
})();
