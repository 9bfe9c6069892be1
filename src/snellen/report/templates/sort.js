"use strict";
// Tables can be sorted by a column. Without this script they stand in the order they were made in.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const value = (row, place) => {
    const text = row.cells[place].textContent.trim();
    const number = parseFloat(text.replace(/,/g, ""));
    return row.cells[place].classList.contains("num") ? number : text.toLowerCase();
  };
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    if (head.classList.contains("picture")) return;
    // No <button>: Chromium leaves it out of headings that it repeats on a page of paper.
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
