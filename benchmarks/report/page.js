"use strict";
(() => {
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // Tables: a button in every heading sorts, a labelled field above filters.
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.key ?? cell.textContent.trim();
    const number = Number(text.replace("−", "-"));
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const compare = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };
  const sort = (table, column, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, place) => ({ row, place, key: keyOf(row, column) }));
    rows.sort((a, b) => {
      const empty = (a.key === "") - (b.key === "");
      return empty || (down ? -compare(a.key, b.key) : compare(a.key, b.key)) || a.place - b.place;
    });
    body.append(...rows.map((item) => item.row));
  };
  const filter = (table, text, count) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const content = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
  };
  let serial = 0;
  for (const table of document.querySelectorAll("table.tools")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = make("button", { type: "button", className: "sort" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, column, head));
      head.append(button);
    });
    if (table.tBodies[0].rows.length < 6) continue;
    const id = `filter-${++serial}`;
    const input = make("input", { type: "search", id, autocomplete: "off" });
    const count = make("span", { className: "count" });
    count.setAttribute("aria-live", "polite");
    const name = table.caption.textContent;
    const label = make("label", { htmlFor: id }, "Filter ", make("span", { className: "unseen" }, name));
    input.addEventListener("input", () => filter(table, input.value, count));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        input.value = "";
        filter(table, "", count);
      }
    });
    table.parentElement.before(make("div", { className: "filter" }, label, input, count));
  }

  // A table that fits its place needs no box to scroll in: its headings stay at the top of the window.
  const boxes = [...document.querySelectorAll(".scroll")];
  const fit = (boxes) => {
    // What is folded away has no size, and asking for it would cost as much as showing it.
    const some = boxes.filter((box) => !box.closest("details:not([open])"));
    const wide = some.map((box) => box.scrollWidth > box.clientWidth);
    some.forEach((box, i) => box.classList.toggle("fits", !wide[i]));
  };
  if (matchMedia("(min-width: 60rem)").matches) {
    for (const detail of document.querySelectorAll(".roomy")) detail.open = true;
  }
  fit(boxes);
  const sizes = new ResizeObserver((changes) => fit([...new Set(changes.map((change) => change.target))]));
  for (const box of boxes) sizes.observe(box);

  // Plots: the values at the nearest point, for the pointer and for the arrow keys.
  const points = JSON.parse(document.getElementById("points").textContent);
  const tip = document.getElementById("tip");
  let active = null;
  const hide = (plot) => {
    active = null;
    tip.hidden = true;
    delete plot.dataset.place;
    plot.querySelector(".cursor").setAttribute("visibility", "hidden");
  };
  const show = (plot, place) => {
    const [x, ...lines] = points[plot.dataset.plot][place];
    active = plot;
    plot.dataset.place = place;
    const cursor = plot.querySelector(".cursor");
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.setAttribute("visibility", "visible");
    tip.replaceChildren(...lines.map((line) => make("div", {}, line)));
    tip.hidden = false;
    const box = plot.getBoundingClientRect();
    const left = box.left + (x / plot.viewBox.baseVal.width) * box.width;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left + 14, room))}px`;
    tip.style.top = `${Math.max(8, box.top + 8)}px`;
  };
  // A plot that has the focus keeps its values, and gets the tip back from one that the pointer went over.
  const leave = (plot) => {
    const focused = document.activeElement;
    if (plot !== focused) hide(plot);
    if (focused?.dataset.place !== undefined && points[focused.dataset.plot]) show(focused, Number(focused.dataset.place));
  };
  const nearest = (plot, event) => {
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * plot.viewBox.baseVal.width;
    const list = points[plot.dataset.plot];
    return list.reduce((best, item, i) => (Math.abs(item[0] - x) < Math.abs(list[best][0] - x) ? i : best), 0);
  };
  for (const plot of document.querySelectorAll("svg.plot")) {
    const last = points[plot.dataset.plot].length - 1;
    plot.addEventListener("pointermove", (event) => show(plot, nearest(plot, event)));
    plot.addEventListener("pointerleave", () => leave(plot));
    plot.addEventListener("focus", () => show(plot, Number(plot.dataset.place ?? last)));
    plot.addEventListener("blur", () => hide(plot));
    plot.addEventListener("keydown", (event) => {
      const place = Number(plot.dataset.place ?? last);
      const moves = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: last };
      if (event.key === "Escape") hide(plot);
      if (!(event.key in moves)) return;
      event.preventDefault();
      show(plot, Math.max(0, Math.min(last, moves[event.key])));
    });
  }

  // The tip goes where its plot goes.
  addEventListener("scroll", () => active && show(active, Number(active.dataset.place)), { passive: true });

  // A link to something folded away opens it, at once and before anything is measured.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    for (const detail of target.querySelectorAll(".roomy")) if (target.matches(".card")) detail.open = true;
    fit(boxes);
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // On paper nothing can be opened.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const detail of closed) detail.open = true;
  });
  addEventListener("afterprint", () => {
    for (const detail of closed) detail.open = false;
  });
})();
