// Results as text for a terminal and as Markdown.

const number = (value, { digits, suffix = "" }) =>
  `${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}${suffix}`;

/** A median and, where there was more than one round, its spread. */
export function showFigure(figure, column, rounds) {
  if (figure === null || figure === undefined) return "";
  const middle = number(figure.median, column);
  if (rounds < 2) return middle;
  return `${middle} (${number(figure.min, column)}..${number(figure.max, column)})`;
}

/** A header and rows of cells. `recorded` is the same part of an earlier run, whose ratios are shown beside. */
function cellsOf(part, recorded) {
  const hasRecorded = recorded !== undefined && part.columns.some(({ key }) => key === "ratio");
  const header = ["", ...part.columns.map(({ title }) => title)];
  if (hasRecorded) header.push("recorded");
  const rows = part.rows.map(({ name, cells }) => {
    const shown = part.columns.map((column) => showFigure(cells[column.key], column, part.rounds));
    const before = recorded?.rows.find((row) => row.name === name)?.cells.ratio;
    const ratio = part.columns.find(({ key }) => key === "ratio");
    return [name, ...shown, ...(hasRecorded ? [showFigure(before, ratio, recorded.rounds)] : [])];
  });
  return { header, rows };
}

const roundsOf = ({ rounds }) => (rounds === 1 ? "1 round" : `median of ${rounds} rounds (least..greatest)`);

export function partAsText(part, recorded) {
  const { header, rows } = cellsOf(part, recorded);
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column].length)));
  const line = (row) =>
    `  ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join("  ")}`.trimEnd();
  const rule = `  ${widths.map((width) => "-".repeat(width)).join("  ")}`;
  const under = part.note === undefined ? [] : [`  ${part.note}`];
  return [`\n${part.title}, ${roundsOf(part)}`, ...under, line(header), rule, ...rows.map(line)].join("\n");
}

export const minuteOf = (measuredAt) => `${measuredAt.slice(0, 16).replace("T", " ")} UTC`;

/** `part` also has `measured_at` and `load_per_core`, as it is recorded. */
export function partAsMarkdown(part) {
  const { header, rows } = cellsOf(part, undefined);
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const title = part.title[0].toUpperCase() + part.title.slice(1);
  const { before, after } = part.load_per_core;
  const when = `Measured ${minuteOf(part.measured_at)}, load ${before} a core before and ${after} after.`;
  const under = `${roundsOf(part)}${part.note === undefined ? "" : `; ${part.note}`}. ${when}`;
  return [
    `## ${title}`,
    "",
    under[0].toUpperCase() + under.slice(1),
    "",
    line(header),
    `|---|${"---:|".repeat(header.length - 1)}`,
    ...rows.map(line),
    "",
  ].join("\n");
}
