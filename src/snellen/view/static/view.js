// Keyboard shortcuts, live progress, zoom and frames. The rest of each page works without it.
"use strict";

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const first = (selector) => document.querySelector(selector);

// -- answers on pictures

// A layer is one answer, on all pictures of the page and in the enlarged picture.
function setLayer(number, on) {
  for (const part of all(`g[data-layer="${number}"]`)) part.toggleAttribute("hidden", !on);
  for (const box of all(`input[data-layer="${number}"]`)) box.checked = on;
}

function toggleLayer(number) {
  const box = first(`input[data-layer="${number}"]`);
  if (box) setLayer(number, !box.checked);
  return Boolean(box);
}

function toggleMarks() {
  const boxes = all("input[data-layer]");
  const on = !boxes.some((box) => box.checked);
  for (const box of boxes) setLayer(box.dataset.layer, on);
  return boxes.length > 0;
}

document.addEventListener("change", (event) => {
  const box = event.target.closest("input[data-layer]");
  if (box) setLayer(box.dataset.layer, box.checked);
});

// -- keys

let at = -1;

function move(step) {
  const rows = all("[data-row]");
  if (!rows.length) return false;
  at = Math.min(rows.length - 1, Math.max(0, at + step));
  rows.forEach((row, n) => row.classList.toggle("at", n === at));
  rows[at].scrollIntoView({ block: "nearest" });
  return true;
}

function follow(link) {
  if (link) link.click();
  return Boolean(link);
}

function open() {
  const row = all("[data-row]")[at];
  return Boolean(row) && follow(row.querySelector("[data-open]"));
}

const keys = {
  j: () => move(1), ArrowDown: () => at >= 0 && move(1),
  k: () => move(-1), ArrowUp: () => at >= 0 && move(-1),
  n: () => follow(first("[rel=next]")), ArrowRight: () => follow(first("[rel=next]")),
  p: () => follow(first("[rel=prev]")), ArrowLeft: () => follow(first("[rel=prev]")),
  u: () => follow(first("[data-up]") || first(".brand")),
  Enter: open,
  "/": () => {
    const box = first("[data-search]");
    if (!box) return false;
    filters.open = true;
    box.focus();
    box.select();
    return true;
  },
  "?": () => { first("#help").showModal(); return true; },
  m: toggleMarks,
  ...Object.fromEntries([..."123456789"].map((number) => [number, () => toggleLayer(number)])),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target;
  if (target.closest("input:not([type=checkbox]), select, textarea, dialog[open]")) {
    if (event.key === "Escape" && target.matches("input")) target.blur();
    return;
  }
  if (event.key === "Enter" && target.closest("a, button, summary")) return;
  const act = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
  if (act && act()) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const target = event.target;
  if (target.closest("[data-help]")) first("#help").showModal();
  const copy = target.closest("[data-copy]");
  if (copy) {
    navigator.clipboard.writeText(copy.parentElement.querySelector("code").textContent)
      .then(() => { copy.textContent = "Copied"; });
  }
  const zoom = target.closest("[data-zoom]");
  if (zoom) look(zoom.querySelector("img"));
  const row = target.closest(".list [data-row]");
  if (row && !target.closest("a, button, input, summary") && !String(getSelection())) {
    follow(row.querySelector("[data-open]"));
  }
});

for (const choice of all("[data-submit]")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}

// Buttons that need a certain number of checked runs.
function count(form) {
  const n = all("input[name=run]:checked", form).length;
  for (const button of all("[data-needs]", form)) {
    const [least, most] = button.dataset.needs.split("-").map(Number);
    button.disabled = n < least || n > most;
  }
}
for (const form of all(".board")) {
  count(form);
  form.addEventListener("change", () => count(form));
}
addEventListener("pageshow", () => all(".board").forEach(count));

// On wide screens, filters are next to the samples. On narrow ones, they are folded above them.
const filters = first(".filters");
if (filters && matchMedia("(max-width: 60rem)").matches) filters.open = false;

// -- live updates

const EVERY = 1000;

async function watch(element) {
  const wasLive = Boolean(element.querySelector(".live"));
  try {
    const reply = await fetch(element.dataset.live, { cache: "no-store" });
    if (reply.ok) element.innerHTML = await reply.text();
    else if (element.dataset.once !== undefined) {
      const fault = new DOMParser().parseFromString(await reply.text(), "text/html");
      element.replaceChildren(fault.querySelector(".note"));
      return;
    }
  } catch {
    // The viewer has stopped or is busy: try again later.
  }
  const live = Boolean(element.querySelector(".live"));
  if (wasLive && !live && element.dataset.whenDone === "reload") location.reload();
  else if (live || element.dataset.once === undefined) setTimeout(watch, document.hidden ? 5 * EVERY : EVERY, element);
}
// Reload the list of runs when it has changed, unless the user has checked runs in it.
async function renew(heading) {
  try {
    const reply = await fetch("/known", { cache: "no-store" });
    const changed = reply.ok && await reply.text() !== heading.dataset.known;
    if (changed && !first("input[name=run]:checked")) { location.reload(); return; }
  } catch {
    // The viewer has stopped or is busy: try again later.
  }
  setTimeout(renew, document.hidden ? 15 * EVERY : 3 * EVERY, heading);
}
all("[data-known]").forEach((heading) => setTimeout(renew, 3 * EVERY, heading));

all("[data-live]").forEach((element) => setTimeout(watch, EVERY / 2, element));

// -- missing pictures

for (const image of all("img")) {
  const gone = async () => {
    image.classList.add("gone");
    const why = image.closest("figure")?.querySelector(".missing");
    if (!why) return;
    const reply = await fetch(why.dataset.why);
    if (reply.ok) return;
    why.textContent = await reply.text();
    why.hidden = false;
    image.closest("button").hidden = true;
  };
  image.addEventListener("error", gone);
  if (image.complete && !image.naturalWidth && image.loading !== "lazy") gone();
}

// -- enlarged pictures

function look(image) {
  const lens = document.createElement("dialog");
  lens.className = "lens";
  const large = document.createElement("img");
  large.src = image.src;
  large.alt = image.alt;
  large.draggable = false;
  const close = document.createElement("button");
  close.textContent = "Close";
  const hint = document.createElement("span");
  hint.className = "hint small";
  const marks = image.parentElement.querySelector(".marks")?.cloneNode(true);
  lens.append(large, ...(marks ? [marks] : []), close, hint);
  document.body.append(lens);
  let scale = 1, x = 0, y = 0;
  const show = () => {
    large.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    large.classList.toggle("near", scale >= 2);
    if (marks) {
      // Not by a transform, which would scale the strokes, too.
      Object.assign(marks.style, {
        left: `${x}px`, top: `${y}px`,
        width: `${scale * large.naturalWidth}px`, height: `${scale * large.naturalHeight}px`,
      });
    }
    hint.textContent = `${Math.round(100 * scale)} % of ${large.naturalWidth} × ${large.naturalHeight} · wheel or + − to zoom, 0 to fit, drag to move${marks ? ", m to hide marks" : ""}`;
  };
  const fit = () => {
    scale = Math.min(innerWidth / large.naturalWidth, innerHeight / large.naturalHeight);
    x = (innerWidth - scale * large.naturalWidth) / 2;
    y = (innerHeight - scale * large.naturalHeight) / 2;
    show();
  };
  const zoom = (by, cx = innerWidth / 2, cy = innerHeight / 2) => {
    const now = Math.min(64, Math.max(0.02, scale * by));
    x = cx - (cx - x) * now / scale;
    y = cy - (cy - y) * now / scale;
    scale = now;
    show();
  };
  large.addEventListener("load", fit);
  lens.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
  }, { passive: false });
  large.addEventListener("pointerdown", (event) => {
    large.setPointerCapture(event.pointerId);
    const drag = (moved) => { x += moved.movementX; y += moved.movementY; show(); };
    large.addEventListener("pointermove", drag);
    large.addEventListener("pointerup", () => large.removeEventListener("pointermove", drag), { once: true });
  });
  lens.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key === "m") toggleMarks();
    else if (/^[1-9]$/.test(event.key)) toggleLayer(event.key);
  });
  close.addEventListener("click", () => lens.close());
  lens.addEventListener("close", () => lens.remove());
  lens.showModal();
  if (large.complete) fit();
}

// -- videos, frame by frame

for (const scrub of all(".scrub")) {
  const times = scrub.dataset.times.split(" ");
  const slider = scrub.querySelector("input");
  const image = scrub.closest("figure").querySelector("img");
  const output = scrub.querySelector("output");
  const go = () => {
    const k = Number(slider.value);
    image.src = scrub.dataset.film + times[k];
    image.alt = `frame at ${times[k]} s`;
    output.textContent = `frame ${k + 1} of ${times.length} · ${Number(times[k]).toFixed(3)} s`;
    let now = null;
    for (const row of all(".moments [data-at]")) {
      row.classList.remove("now");
      if (Number(row.dataset.at) <= Number(times[k])) now = row;
    }
    if (now) now.classList.add("now");
  };
  slider.addEventListener("input", go);
  for (const button of all("[data-step]", scrub)) {
    button.addEventListener("click", () => {
      slider.value = Number(slider.value) + Number(button.dataset.step);
      go();
    });
  }
}
