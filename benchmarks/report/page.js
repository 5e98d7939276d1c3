"use strict";
(() => {
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  const tool = (label, title, act) => {
    const button = make("button", { type: "button", className: "tool", title }, label);
    button.addEventListener("click", () => act(button));
    return button;
  };
  const say = (button, word) => {
    const before = button.dataset.label ?? button.textContent;
    button.dataset.label = before;
    button.textContent = word;
    setTimeout(() => { button.textContent = before; }, 1200);
  };

  // The address is "#place?table=words&table.sort=2": where the reader is, and what was chosen for which table.
  const address = () => {
    const [place, query = ""] = location.hash.slice(1).split("?");
    return { place: decodeURIComponent(place), chosen: new URLSearchParams(query) };
  };
  const write = (place, chosen) => {
    const query = chosen.toString();
    const hash = encodeURIComponent(place) + (query && `?${query}`);
    // A file may only change what follows the "#".
    history.replaceState(null, "", `#${hash}`);
  };
  const keep = (name, value) => {
    const { place, chosen } = address();
    if (value) chosen.set(name, value);
    else chosen.delete(name);
    write(place, chosen);
  };

  // Files that the reader saves. A text that a spreadsheet would take for a formula is quoted.
  const save = (name, type, text) => {
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const words = (element) => {
    const copy = element.cloneNode(true);
    for (const drawn of copy.querySelectorAll("svg, .unseen, .anchor")) drawn.remove();
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  // The rows in sight. A column whose cells have exact values beside their texts gives two.
  const data = (table) => {
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    const heads = [...table.tHead.rows[0].cells].map((head, i) => words(head) || (i ? `column ${i + 1}` : "name"));
    const exact = heads.map((_, i) => rows.some((row) => (row.cells[i]?.dataset.key ?? words(row.cells[i])) !== words(row.cells[i])));
    return rows.map((row) => {
      const found = {};
      heads.forEach((head, i) => {
        const text = words(row.cells[i]);
        if (text !== "" || !exact[i]) found[head] = text;
        if (exact[i]) {
          const key = row.cells[i].dataset.key ?? "";
          const number = Number(key);
          found[`${head} (value)`] = key !== "" && !Number.isNaN(number) ? number : key;
        }
      });
      return found;
    });
  };
  const csv = (rows) => {
    const heads = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cell = (value) => {
      const text = String(value ?? "");
      const safe = typeof value !== "number" && /^[=+@\t\r-]/.test(text) ? `'${text}` : text;
      return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    return [heads, ...rows.map((row) => heads.map((head) => row[head]))].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
  };
  const json = (value) => `${JSON.stringify(value, null, 1)}\n`;

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
  const sort = (table, column, down) => {
    const head = table.tHead.rows[0].cells[column];
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
  const tables = new Map();
  for (const table of document.querySelectorAll("table.tools")) {
    const name = table.id.slice("table-".length);
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = make("button", { type: "button", className: "sort" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        sort(table, column, down);
        keep(`${name}.sort`, `${column + 1}${down ? "-" : ""}`);
      });
      head.append(button);
    });
    const tools = make("div", { className: "filter" });
    let choose = () => {};
    if (table.tBodies[0].rows.length >= 6) {
      const id = `filter-${name}`;
      const input = make("input", { type: "search", id, autocomplete: "off" });
      const count = make("span", { className: "count" });
      count.setAttribute("aria-live", "polite");
      const about = make("span", { className: "unseen" }, table.caption.textContent);
      choose = (text) => {
        if (input.value !== text) input.value = text;
        filter(table, text, count);
      };
      input.addEventListener("input", () => {
        choose(input.value);
        keep(name, input.value.trim());
      });
      input.addEventListener("keydown", (event) => {
        if (event.key === "Escape") {
          choose("");
          keep(name, "");
        }
      });
      tools.append(make("label", { htmlFor: id }, "Filter ", about), input, count);
    }
    tools.append(
      tool("CSV", `Save ${table.caption.textContent} as CSV`, () => save(`${name}.csv`, "text/csv", csv(data(table)))),
      tool("JSON", `Save ${table.caption.textContent} as JSON`, () => save(`${name}.json`, "application/json", json(data(table)))),
    );
    table.parentElement.before(tools);
    tables.set(name, { table, choose });
  }
  const choose = () => {
    const { chosen } = address();
    for (const [name, { table, choose }] of tables) {
      if (chosen.has(name)) choose(chosen.get(name));
      const found = /^(\d+)(-?)$/.exec(chosen.get(`${name}.sort`) ?? "");
      const column = found && Number(found[1]) - 1;
      if (found && table.tHead.rows[0].cells[column]) sort(table, column, found[2] === "-");
    }
  };

  // A table that fits its place needs no box to scroll in: its headings stay at the top of the window.
  const boxes = [...document.querySelectorAll(".scroll")];
  const fit = (boxes) => {
    // What is folded away has no size, and asking for it would cost as much as showing it.
    const some = boxes.filter((box) => !box.closest("details:not([open])"));
    const wide = some.map((box) => box.scrollWidth > box.clientWidth);
    some.forEach((box, i) => box.classList.toggle("fits", !wide[i]));
  };
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

  // A larger view: the plot itself moves into a dialog, and back when that is closed.
  const dialog = make("dialog", {});
  dialog.setAttribute("aria-label", "Larger view");
  document.body.append(dialog);
  let home = null;
  const enlarge = (plot) => {
    if (dialog.open) return;
    const figure = plot.closest("figure");
    home = document.createComment("plot");
    plot.replaceWith(home);
    const about = [...figure.querySelectorAll(".legend, figcaption")].map((part) => part.cloneNode(true));
    dialog.replaceChildren(tool("Close", "Close the larger view", () => dialog.close()), plot, ...about, tip);
    dialog.showModal();
  };
  dialog.addEventListener("close", () => {
    const plot = dialog.querySelector("svg.plot");
    hide(plot);
    document.body.append(tip);
    home.replaceWith(plot);
    plot.focus({ preventScroll: true });
    hide(plot);
    dialog.replaceChildren();
  });
  for (const plot of document.querySelectorAll("svg.plot")) {
    plot.addEventListener("click", () => enlarge(plot));
    plot.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      enlarge(plot);
    });
    const button = tool("⤢", "Larger view", () => enlarge(plot));
    button.classList.add("enlarge");
    button.setAttribute("aria-label", `Larger view of ${plot.querySelector("title").textContent}`);
    plot.closest("figure").append(button);
  }

  // Commands and listings are copied by a button.
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = make("textarea", { value: text });
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  };
  for (const code of document.querySelectorAll(".commands code, pre")) {
    const text = code.textContent;
    const button = tool("copy", "Copy to the clipboard", async () => say(button, (await copy(text)) ? "copied" : "select it"));
    button.classList.add("copy");
    button.setAttribute("aria-label", `Copy ${text.slice(0, 60)}`);
    code.after(button);
  }

  // Light, dark, or as the system has it. A file has no storage in some browsers.
  const themes = ["auto", "light", "dark"];
  const remember = (theme) => { try { localStorage.setItem("robust-core theme", theme); } catch { /* for this page only */ } };
  const recall = () => { try { return localStorage.getItem("robust-core theme"); } catch { return null; } };
  const dress = (button, theme) => {
    button.textContent = `theme: ${theme}`;
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  const theme = tool("", "Switch between light, dark, and the scheme of the system", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme ?? "auto") + 1) % themes.length];
    dress(theme, next);
    remember(next);
  });
  theme.id = "theme";
  dress(theme, themes.includes(recall()) ? recall() : "auto");
  const everything = () => Object.fromEntries([...tables].map(([name, { table }]) => [name, data(table)]));
  const all = tool("data: JSON", "Save all tables as JSON", () => save("report-tables.json", "application/json", json(everything())));
  all.id = "save-all";
  document.querySelector("header").append(make("div", { className: "switches" }, theme, all));

  // The contents mark the section in sight.
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const section of document.querySelectorAll("section")) seen.observe(section);

  // A link to something folded away opens it, at once and before anything is measured.
  const reveal = () => {
    const { place } = address();
    const target = place && document.getElementById(place);
    if (!target) return;
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    for (const detail of target.querySelectorAll("details")) if (target.matches(".card")) detail.open = true;
    fit(boxes);
    target.scrollIntoView();
  };
  let last = address().chosen;
  addEventListener("hashchange", () => {
    const { place, chosen } = address();
    // A link to a place alone keeps what was chosen.
    if ([...chosen].length === 0 && [...last].length > 0) write(place, last);
    choose();
    reveal();
  });
  addEventListener("input", () => { last = address().chosen; });
  addEventListener("click", () => { last = address().chosen; }, true);
  choose();
  reveal();
})();
