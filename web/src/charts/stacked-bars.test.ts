import { describe, expect, it } from "vitest";
import { stackBars } from "./stacked-bars.js";

const SIZE = { width: 442, height: 138 };
const stack = (good: number, bad: number) => ({ label: "day", parts: { good, bad } });

describe("stacked bars", () => {
  it("put parts upon each other in their order, and leave out what is not there", () => {
    const { bars } = stackBars([stack(3, 1), stack(0, 2)], ["good", "bad"], SIZE);
    expect(bars.map(({ part }) => part)).toEqual(["good", "bad", "bad"]);
    const [good, bad] = bars;
    expect(good!.y + good!.height).toBeCloseTo(113, 0);
    expect(bad!.y + bad!.height).toBeLessThanOrEqual(good!.y);
    expect(good!.height).toBeGreaterThan(2.5 * bad!.height);
  });

  it("stay within the drawing, however many there are and however high they are", () => {
    const stacks = Array.from({ length: 500 }, (_, index) => stack(index, 1_000_000));
    const { bars, grid, labels } = stackBars(stacks, ["good", "bad"], SIZE);
    for (const { x, y, width, height } of bars) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(SIZE.width);
      expect(y + height).toBeLessThanOrEqual(SIZE.height);
    }
    expect(grid.length).toBeLessThanOrEqual(7);
    expect(labels.length).toBeLessThanOrEqual(6);
  });

  it("have lines at whole numbers, from nothing to more than the highest", () => {
    expect(stackBars([stack(1, 0)], ["good", "bad"], SIZE).grid.map(({ value }) => value)).toEqual([0, 1]);
    expect(stackBars([stack(47, 0)], ["good", "bad"], SIZE).grid.map(({ value }) => value)).toEqual([
      0, 10, 20, 30, 40, 50,
    ]);
    expect(stackBars([], ["good", "bad"], SIZE).bars).toEqual([]);
  });
});
