// Plots as SVG. Each has a name for screen readers and its figures as a table below.

import { h, newId, svg } from "./dom.js";
import { folded, table } from "./pieces.js";
import { number, percent, t } from "./words.js";

const NARROW = 640; // pixels of a window below which plots are drawn narrower, so that their words stay legible
const wide = () => (innerWidth < NARROW ? 400 : 640);

/** A plot with its title, its note, its key and its figures. */
export function figure({ name, title, note, key, drawing, columns, rows }) {
  return h(
    "figure",
    { data: { chart: name } },
    h("figcaption", {}, h("b", {}, title), note ? h("span", {}, note) : null),
    key,
    drawing,
    folded(t("plot.figures"), table(columns, rows, { caption: title })),
  );
}

function drawing(title, width, height, ...parts) {
  const id = newId("plot");
  return svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": id },
    svg("title", { id }, title),
    parts,
  );
}

/** Round steps between two figures. */
function steps(least, most, wanted = 5) {
  const span = most - least || 1;
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= wanted) ?? span;
  const found = [];
  for (let at = Math.ceil(least / step) * step; at <= most + step / 1e6; at += step) found.push(Number(at.toFixed(12)));
  return found;
}

const SHAPES = [
  (x, y) => svg("circle", { cx: x, cy: y, r: 7 }),
  (x, y) => svg("rect", { x: x - 6, y: y - 6, width: 12, height: 12 }),
  (x, y) => svg("path", { d: `M${x} ${y - 8}L${x + 8} ${y + 6}H${x - 8}Z` }),
  (x, y) => svg("path", { d: `M${x} ${y - 9}L${x + 9} ${y}L${x} ${y + 9}L${x - 9} ${y}Z` }),
  (x, y) => svg("path", { d: `M${x} ${y + 8}L${x + 8} ${y - 6}H${x - 8}Z` }),
  (x, y) => svg("path", { d: `M${x - 7} ${y - 3}h4v-4h6v4h4v6h-4v4h-6v-4h-4Z` }),
];

/** The mark of a series, by shape and colour. */
export function mark(series, x, y) {
  const drawn = SHAPES[series % SHAPES.length](x, y);
  drawn.setAttribute("class", `mark s${series % SHAPES.length}`);
  return drawn;
}

/** The key of a plot: what each mark stands for; `series` are the numbers of the marks. */
export function legend(names, series = names.map((_, place) => place)) {
  return h(
    "ul",
    { class: "legend" },
    names.map((name, place) =>
      h("li", {}, svg("svg", { width: 16, height: 16, viewBox: "0 0 20 20", "aria-hidden": "true" }, mark(series[place], 10, 10)), ` ${name}`),
    ),
  );
}

/** Points that can be chosen. A point is {x, y, series, label, chosen, faint}. */
export function scatter({ title, points, across, up, choose, ceiling }) {
  const [WIDE, height] = [wide(), 380];
  const [left, right, top, bottom] = [64, 18, 14, 46];
  const reach = (values) => {
    const [least, most] = [Math.min(0, ...values), Math.max(...values, 1e-9)];
    return [least, most + (most - least) * 0.08];
  };
  const [x0, x1] = reach(points.map((one) => one.x));
  const [y0, y1] = reach(points.map((one) => one.y).concat(ceiling ?? []));
  const x = (value) => left + ((value - x0) / (x1 - x0)) * (WIDE - left - right);
  const y = (value) => height - bottom - ((value - y0) / (y1 - y0)) * (height - top - bottom);
  const grid = [
    steps(x0, x1, WIDE < 640 ? 4 : 5).map((at) => [
      svg("line", { class: "grid", x1: x(at), x2: x(at), y1: top, y2: height - bottom }),
      svg("text", { x: x(at), y: height - bottom + 18, "text-anchor": "middle" }, number(at)),
    ]),
    steps(y0, y1).map((at) => [
      svg("line", { class: "grid", x1: left, x2: WIDE - right, y1: y(at), y2: y(at) }),
      svg("text", { x: left - 8, y: y(at) + 4, "text-anchor": "end" }, percent(at)),
    ]),
    svg("text", { class: "label", x: (left + WIDE - right) / 2, y: height - 6, "text-anchor": "middle" }, across),
    svg("text", { class: "label", transform: `translate(14 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, up),
  ];
  const limit =
    ceiling === undefined || ceiling === null
      ? null
      : svg("line", { class: "rule", x1: left, x2: WIDE - right, y1: y(ceiling), y2: y(ceiling) });
  const marks = points.map((one, place) => {
    const group = svg(
      "g",
      {
        class: `point${one.chosen ? " chosen" : ""}${one.faint ? " faint" : ""}${choose && one.can !== false ? " live" : ""}`,
        data: { point: String(place) },
        on: choose && one.can !== false ? { click: () => choose(one) } : {},
      },
      svg("title", {}, one.label),
      svg("circle", { class: "ring", cx: x(one.x), cy: y(one.y), r: 13 }),
      mark(one.series, x(one.x), y(one.y)),
    );
    return group;
  });
  return drawing(title, WIDE, height, grid, limit, marks);
}

/** Bars of two tables beside each other: {label, before, after} as shares. */
export function pairedBars({ title, rows }) {
  const WIDE = wide();
  const [label, line, gap] = [WIDE < 640 ? 120 : 170, 13, 9];
  const longest = Math.floor(label / 7);
  const height = rows.length * (2 * line + gap) + 4;
  const most = Math.max(1e-9, ...rows.flatMap((row) => [row.before ?? 0, row.after ?? 0]));
  const long = (share) => ((share ?? 0) / most) * (WIDE - label - 70);
  const bars = rows.map((row, place) => {
    const y = place * (2 * line + gap) + 2;
    const short = row.label.length > longest ? `${row.label.slice(0, longest - 1)}…` : row.label;
    const bar = (share, top, series) => [
      svg("rect", { class: `mark s${series}`, x: label, y: top, width: Math.max(0.5, long(share)), height: line - 1 }),
      svg("text", { class: "figure", x: label + long(share) + 6, y: top + line - 3 }, share === null ? "–" : percent(share)),
    ];
    return [
      svg("text", { class: "label", x: label - 8, y: y + line + 4, "text-anchor": "end" }, short),
      bar(row.before, y, 5),
      bar(row.after, y + line, 0),
    ];
  });
  return drawing(title, WIDE, height, bars);
}

/** Bars one below another: {label, share, shown, tone}; narrow ones have short labels. */
export function bars({ title, rows, width = wide() }) {
  const [label, line] = [width < 640 ? 64 : 170, 24];
  const most = Math.max(1e-9, ...rows.map((row) => row.share ?? 0));
  const long = (share) => ((share ?? 0) / most) * (width - label - 90);
  const drawn = rows.map((row, place) => {
    const y = place * line + 3;
    const short = row.label.length > 24 ? `${row.label.slice(0, 23)}…` : row.label;
    return [
      svg("text", { class: "label", x: label - 8, y: y + 14, "text-anchor": "end" }, short),
      svg("rect", { class: `bar ${row.tone ?? ""}`, x: label, y, width: Math.max(0.5, long(row.share)), height: line - 6 }),
      svg("text", { class: "figure", x: label + long(row.share) + 6, y: y + 14 }, row.shown ?? percent(row.share)),
    ];
  });
  return drawing(title, width, rows.length * line + 6, drawn);
}
