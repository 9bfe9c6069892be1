"use strict";
// Makes tables sortable by a column. Without this script, rows keep their original order.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const value = (row, place) => {
    const text = row.cells[place].textContent.trim();
    const number = parseFloat(text.replace(/,/g, ""));
    return row.cells[place].classList.contains("num") ? number : text.toLowerCase();
  };
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    if (head.classList.contains("picture")) return;
    // Not a <button>: Chromium leaves it out of the headings that it repeats on printed pages.
    const button = document.createElement("span");
    button.role = "button";
    button.tabIndex = 0;
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      button.click();
    });
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [value(a, place), value(b, place)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        const order = typeof x === "number" ? x - y : x.localeCompare(y);
        return down ? -order : order;
      });
      body.append(...rows);
    });
  });
}
