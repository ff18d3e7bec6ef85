/** One interval of time with its stacked parts. */
export interface Stack<Name extends string> {
  readonly label: string;
  readonly parts: { readonly [name in Name]: number };
}

export interface Bar<Name extends string> {
  readonly part: Name;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface BarChart<Name extends string> {
  readonly bars: readonly Bar<Name>[];
  /** Horizontal lines with their values. */
  readonly grid: readonly { readonly y: number; readonly value: number }[];
  readonly labels: readonly { readonly x: number; readonly text: string }[];
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const LEFT = 34;
const RIGHT = 8;
const TOP = 14;
const BOTTOM = 24;
/** The gap between parts that touch. */
const GAP = 1;
const MAX_LABELS = 6;
const MIN_HEIGHT = 1.5;

/** Stacks parts in the given order, the first at the bottom. */
export function stackBars<Name extends string>(
  stacks: readonly Stack<Name>[],
  order: readonly Name[],
  { width, height }: Size,
): BarChart<Name> {
  const highest = Math.max(
    1,
    ...stacks.map(({ parts }) => order.reduce((sum, name) => sum + parts[name], 0)),
  );
  const step = niceStep(highest);
  const top = Math.ceil(highest / step) * step;
  const bottomY = height - BOTTOM;
  const scale = (bottomY - TOP) / top;
  const slot = (width - LEFT - RIGHT) / Math.max(1, stacks.length);
  const barWidth = Math.max(1, Math.min(slot * 0.78, 40));
  const xOf = (index: number): number => LEFT + index * slot + (slot - barWidth) / 2;
  const bars = stacks.flatMap(({ parts }, index) => {
    let y = bottomY;
    return order
      .filter((part) => parts[part] > 0)
      .map((part): Bar<Name> => {
        const tall = parts[part] * scale;
        y -= tall;
        return { part, x: xOf(index), y, width: barWidth, height: Math.max(MIN_HEIGHT, tall - GAP) };
      });
  });
  const grid = Array.from({ length: top / step + 1 }, (_, index) => ({
    value: index * step,
    y: bottomY - index * step * scale,
  }));
  const every = Math.max(1, Math.ceil(stacks.length / MAX_LABELS));
  const labels = stacks.flatMap(({ label }, index) =>
    index % every === 0 ? [{ x: xOf(index) + barWidth / 2, text: label }] : [],
  );
  return { bars, grid, labels };
}

/** A step of 1, 2 or 5 times a power of ten that gives at most five lines. */
function niceStep(highest: number): number {
  const rough = highest / 5;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  return Math.max(1, [1, 2, 5, 10].map((times) => times * power).find((step) => step >= rough) ?? power);
}
