import { html, type Markup } from "./markup.js";

const WIDTH = 360;
const HEIGHT = 130;
const LEFT = 62;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;
/** A limit so many times above the highest value would press the line flat: it is told in words only. */
const FAR_LIMIT = 3;

export interface Line {
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly tone: "main" | "second";
}

export interface Chart {
  readonly label: string;
  readonly lines: readonly Line[];
  /** The end of the x axis, which begins at 0. */
  readonly until: number;
  /** Something that must not be passed, drawn across. */
  readonly limit: number | null;
  /** What units are made of: 1000 for counts, 1024 for bytes. */
  readonly base: 1000 | 1024;
  readonly xText: (x: number) => string;
  readonly yText: (y: number) => string;
}

/** Values over time: the area under each line, with the axis in a few round steps. */
export function areaChart({ label, lines, until, limit, base, xText, yText }: Chart): Markup {
  const highest = lines.reduce(
    (most, { points }) => points.reduce((top, [, y]) => Math.max(top, y), most),
    0,
  );
  const shownLimit = limit !== null && limit <= highest * FAR_LIMIT ? limit : null;
  const step = roundStep(Math.max(highest, shownLimit ?? 0, 1e-3) / 2, base);
  const steps = Math.max(1, Math.ceil(Math.max(highest, shownLimit ?? 0) / step));
  const x = (value: number): number => LEFT + (value / Math.max(until, 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => HEIGHT - BOTTOM - (value / (step * steps)) * (HEIGHT - TOP - BOTTOM);
  const across = (value: number): Markup =>
    html`x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at(y(value))}" y2="${at(y(value))}"`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}"><title>${label}</title>
${Array.from({ length: steps + 1 }, (_, place) => place * step).map(
  (value) => html`<line class="grid" ${across(value)}/>
<text class="axis" x="${LEFT - 6}" y="${at(y(value) + 4)}" text-anchor="end">${yText(value)}</text>`,
)}
<text class="axis" x="${LEFT}" y="${HEIGHT - 5}">0</text>
<text class="axis" x="${WIDTH - RIGHT}" y="${HEIGHT - 5}" text-anchor="end">${xText(until)}</text>
${lines.map(({ points, tone }) => areaOf(points, tone, x, y))}
${shownLimit === null ? "" : html`<line class="limit" ${across(shownLimit)}><title>asked for: ${yText(shownLimit)}</title></line>`}
</svg>`;
}

/** The next larger of 1, 2 and 5 with zeros, in the unit that fits. */
function roundStep(value: number, base: 1000 | 1024): number {
  const unit = base ** Math.max(0, Math.floor(Math.log(Math.max(value, 1)) / Math.log(base)));
  const ten = 10 ** Math.floor(Math.log10(value / unit));
  const first = value / unit / ten;
  return unit * ten * (first <= 1 ? 1 : first <= 2 ? 2 : first <= 5 ? 5 : 10);
}

function areaOf(
  points: Line["points"],
  tone: Line["tone"],
  x: (value: number) => number,
  y: (value: number) => number,
): Markup {
  if (points.length === 0) return html``;
  const line = points.map(([px, py]) => `${at(x(px))} ${at(y(py))}`).join(" L");
  const [first, last] = [points[0]![0], points.at(-1)![0]];
  return html`<path class="area ${tone}" d="M${at(x(first))} ${at(y(0))} L${line} L${at(x(last))} ${at(y(0))} Z"/>
<path class="line ${tone}" d="M${line}"/>`;
}

const BAR_WIDTH = 150;
const BAR_HEIGHT = 14;

export interface Bar {
  /** The whole width: what was asked for, or the most of all groups. */
  readonly whole: number;
  readonly isAsked: boolean;
  readonly spread: { readonly p50: number; readonly p95: number; readonly max: number };
  readonly text: (value: number) => string;
  readonly tone: "usual" | "low" | "near";
}

/** How much of the whole was used: the most, and as lines the usual and nearly the most. */
export function usageBar({ whole, isAsked, spread, text, tone }: Bar): Markup {
  const x = (value: number): number => Math.min(1, value / Math.max(whole, 1e-9)) * BAR_WIDTH;
  const told = `median ${text(spread.p50)}, 95% below ${text(spread.p95)}, most ${text(spread.max)}${isAsked ? `, asked for ${text(whole)}` : ""}`;
  return html`<svg class="bar" viewBox="0 0 ${BAR_WIDTH} ${BAR_HEIGHT}" role="img" aria-label="${told}"><title>${told}</title>
<rect class="${isAsked ? "track" : "no-track"}" width="${BAR_WIDTH}" height="${BAR_HEIGHT}" rx="3"/>
<rect class="fill ${tone}" width="${at(Math.max(x(spread.max), 2))}" height="${BAR_HEIGHT}" rx="3"/>
${[spread.p50, spread.p95].map((value) => html`<line class="mark" x1="${at(x(value))}" x2="${at(x(value))}" y1="2" y2="${BAR_HEIGHT - 2}"/>`)}
</svg>`;
}

function at(value: number): string {
  return String(Number(value.toFixed(1)));
}
