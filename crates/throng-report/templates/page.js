"use strict";
(() => {
  const plots = JSON.parse(document.getElementById("plots").textContent);
  const places = [...document.querySelectorAll(".plot")];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 40rem)");
  let printing = false;

  // What follows the reader's scheme and the width of the page; the rest is in the data.
  function dressed(layout, width, names) {
    const style = getComputedStyle(document.documentElement);
    const light = printing ? { "--text": "#1b1f24", "--line": "#d8dee4", "--raised": "#f6f8fa" } : {};
    const colour = (name) => light[name] || style.getPropertyValue(name).trim();
    const result = structuredClone(layout);
    Object.assign(result, {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--text"), family: "system-ui, sans-serif", size: narrow.matches ? 11 : 13 },
      hoverlabel: { bgcolor: colour("--raised"), bordercolor: colour("--line"), font: { color: colour("--text") }, align: "left", namelength: -1 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--line"), activecolor: colour("--text") },
      margin: { l: 10, r: 12, t: 30, b: 10 },
      width,
    });
    for (const [name, axis] of Object.entries(result)) {
      if (/^[xy]axis\d*$/.test(name)) {
        Object.assign(axis, { gridcolor: colour("--line"), linecolor: colour("--line"), zerolinecolor: colour("--line") });
      }
    }
    if (width < 720 || names.some((name) => name.length > 32)) {
      // As many lines as the names take, below the title of the axis.
      const lines = Math.ceil(names.reduce((sum, name) => sum + 60 + 8 * name.length, 0) / width);
      result.legend = { orientation: "h", x: 0, y: -80 / (result.height - 90), yanchor: "top" };
      result.height += 24 * lines;
    } else {
      result.legend = { x: 1.01, y: 0.95 };
    }
    return result;
  }

  // Plotly names only whole decades with their unit: 1, 2 and 5 of each, or the values themselves where they are few.
  function ticked(axis, values) {
    if (axis.type !== "log" || axis.ticktext) return;
    const there = [...new Set(values.filter((value) => value > 0))].sort((one, other) => one - other);
    if (there.length === 0) return;
    const [least, most] = [there[0], there[there.length - 1]];
    const steps = Math.log10(most / least) > 3.5 ? [1] : [1, 2, 5];
    const ticks = [];
    for (let decade = Math.floor(Math.log10(least)); decade <= Math.ceil(Math.log10(most)); decade++) {
      for (const step of steps) ticks.push(step * 10 ** decade);
    }
    axis.tickvals = there.length <= 8 && !axis.ticksuffix ? there : ticks;
    axis.ticktext = axis.tickvals.map((value) => named(value) + (axis.ticksuffix || ""));
  }

  function named(value) {
    const prefixes = ["n", "µ", "m", "", "k", "M", "G", "T"];
    const power = Math.min(4, Math.max(-3, Math.floor(Math.log10(value * 1.000001) / 3)));
    return Number((value / 1000 ** power).toPrecision(4)) + prefixes[power + 3];
  }

  const settings = (name) => ({
    displaylogo: false,
    responsive: false,
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
    toImageButtonOptions: { format: "svg", filename: name },
  });

  const inLegend = (data) => data.filter((trace) => trace.showlegend !== false && trace.type !== "heatmap").map((trace) => trace.name || "");

  function draw(place) {
    const name = place.dataset.chart;
    const figure = place.closest("figure");
    const select = figure.querySelector("select");
    const box = figure.querySelector(".logarithmic");
    const view = plots[name][select ? select.value : 0];
    // A sheet of paper is narrower than most windows, and laid out only after this.
    const width = printing ? 700 : Math.max(260, place.clientWidth);
    const layout = dressed(view.layout, width, inLegend(view.data));
    // Only what has values, and not names, along its sides can be drawn so.
    const isHeat = view.data.some((trace) => trace.type === "heatmap");
    const value = layout.yaxis.ticktext ? "xaxis" : "yaxis";
    box.hidden = isHeat;
    const check = box.querySelector("input");
    if (place.dataset.drawn !== String(select ? select.value : 0)) {
      check.checked = layout[value].type === "log";
    }
    layout[value].type = check.checked ? "log" : "linear";
    if (isHeat) delete layout[value].type;
    ticked(layout.xaxis, view.data.flatMap((trace) => trace.x || []));
    ticked(layout.yaxis, view.data.filter((trace) => (trace.yaxis || "y") === "y").flatMap((trace) => trace.y || []));
    place.dataset.drawn = select ? select.value : 0;
    // What is read from the record is never changed by what is drawn of it.
    Plotly.react(place, structuredClone(view.data), layout, settings(name));
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        seen.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "400px" });

  for (const place of places) {
    seen.observe(place);
    const figure = place.closest("figure");
    const select = figure.querySelector("select");
    if (select) select.addEventListener("change", () => draw(place));
    figure.querySelector(".logarithmic input").addEventListener("change", () => draw(place));
  }

  function again() {
    for (const place of places) {
      if (place.dataset.drawn !== undefined) draw(place);
    }
  }
  dark.addEventListener("change", again);
  let resized;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(again, 150);
  });
  addEventListener("beforeprint", () => {
    printing = true;
    places.forEach(draw);
    for (const finding of document.querySelectorAll("details")) finding.open = true;
  });
  addEventListener("afterprint", () => {
    printing = false;
    again();
  });

  // Cells without a figure stay at the end, whichever way.
  function sort(table, column, ascending) {
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.cells[column];
      if (!cell) return null;
      if (cell.dataset.number !== undefined) return Number(cell.dataset.number);
      const text = cell.textContent.trim();
      return text === "–" || text === "" ? null : text;
    };
    const way = ascending ? 1 : -1;
    const rows = [...body.rows].map((row) => ({ row, key: key(row) }));
    const numbers = rows.some(({ key }) => typeof key === "number");
    for (const one of rows) {
      if (numbers && typeof one.key === "string") one.key = null;
    }
    rows.sort((one, other) => {
      if (one.key === null || other.key === null) return (one.key === null) - (other.key === null);
      if (numbers) return way * (one.key - other.key);
      return way * one.key.localeCompare(other.key, "en", { numeric: true });
    });
    rows.forEach(({ row }) => body.append(row));
  }
  for (const table of document.querySelectorAll("table:has(th button)")) {
    [...table.querySelectorAll("th")].forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const ascending = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        sort(table, column, ascending);
      });
    });
  }
})();
