// Adds a search box above the table of benchmarks. A row is shown if it contains all words.
"use strict";

for (const box of document.querySelectorAll(".benchmark-search")) {
  const table = box.parentElement.querySelector("table");
  if (table === null) continue;
  const rows = [...table.tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());

  const label = document.createElement("label");
  label.textContent = `${box.dataset.label} `;
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = box.dataset.hint;
  const count = document.createElement("output");
  label.append(input);
  box.append(label, count);

  const update = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = ` ${shown} of ${rows.length}`;
  };
  input.addEventListener("input", update);
  update();
}
