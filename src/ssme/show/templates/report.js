"use strict";
(() => {
  const say = (text) => { document.getElementById("status").textContent = text; };

  const keyOf = (cell) =>
    cell.dataset.value === undefined ? cell.textContent.trim().toLowerCase()
      : cell.dataset.value === "" ? null : Number(cell.dataset.value);

  const sortBy = (table, head) => {
    const column = [...head.parentNode.children].indexOf(head);
    const rising = head.getAttribute("aria-sort") !== "ascending";
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === "number" ? a - b : a.localeCompare(b);
      return rising ? order : -order;
    });
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const first = rows.length - table.querySelectorAll(".rest").length;
    rows.forEach(([, row], place) => row.classList.toggle("rest", place >= first));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    say(`Sorted by ${head.textContent.trim()}, ${rising ? "rising" : "falling"}`);
  };

  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const textOf = (cell) =>
    cell.dataset.value ?? cell.querySelector("[title]")?.title ?? cell.textContent.trim();
  const csvOf = (table) =>
    [...table.rows].map((row) => [...row.cells].map((cell) => quoted(textOf(cell))).join(",")).join("\n");

  const tableBefore = (button) => {
    let at = button.previousElementSibling;
    while (!at.querySelector("table")) at = at.previousElementSibling;
    return at.querySelector("table");
  };

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };

  // On a narrow screen rows become blocks: roles keep them a table, labels name their numbers.
  const label = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    table.setAttribute("role", "table");
    for (const part of [table.tHead, table.tBodies[0]]) part.setAttribute("role", "rowgroup");
    for (const row of table.rows) row.setAttribute("role", "row");
    for (const head of heads) head.setAttribute("role", "columnheader");
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, place) => {
        cell.setAttribute("role", place ? "cell" : "rowheader");
        if (place) cell.dataset.label = heads[place].dataset.label;
      });
    }
    table.classList.add("labeled");
  };

  for (const table of document.querySelectorAll("table.sort, table.rows")) label(table);
  for (const button of document.querySelectorAll("button.unfold")) {
    const table = tableBefore(button);
    const words = button.textContent;
    const fold = (folded) => {
      table.classList.toggle("folded", folded);
      button.textContent = folded ? words : "Show the first rows";
      button.setAttribute("aria-expanded", String(!folded));
    };
    button.hidden = false;
    button.addEventListener("click", () => fold(!table.classList.contains("folded")));
    fold(true);
  }
  for (const table of document.querySelectorAll("table.sort")) {
    for (const head of table.tHead.rows[0].cells) {
      head.querySelector("button").addEventListener("click", () => sortBy(table, head));
    }
  }
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      await copy(csvOf(tableBefore(button)));
      say("Copied");
      const words = button.textContent;
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = words; }, 1500);
    });
  }
})();
