import { describe, expect, it } from "vitest";
import { arcOf, backArcOf } from "./edge-paths.js";

const box = (x: number, y: number, width = 100) => ({ x, y, width, height: 34 });
const numbersIn = (path: string): number[] => (path.match(/-?[\d.]+/g) ?? []).map(Number);

describe("the arcs of recoveries", () => {
  it("go round what lies between, with the number on the curve", () => {
    const [start, end, between] = [box(200, 200), box(240, 0), box(60, 100)];
    const { path, x, y } = backArcOf(start, end, 0, [start, end, between]);
    expect(x).toBeLessThan(between.x);
    const [x1, y1, x2, y2, x3, y3, x4, y4] = numbersIn(path) as [
      ...[number, number, number, number, number, number, number, number],
    ];
    const middle = [(x1 + 3 * x2 + 3 * x3 + x4) / 8, (y1 + 3 * y2 + 3 * y3 + y4) / 8];
    expect(middle[0]).toBeCloseTo(x, 5);
    expect(middle[1]).toBeCloseTo(y, 5);
  });

  it("come back below where two steps stand side by side", () => {
    const [start, end] = [box(200, 100), box(0, 100)];
    const there = backArcOf(start, end, 0);
    const back = backArcOf(end, start, 0, [], true);
    expect(there.y).toBeLessThan(117);
    expect(back.y).toBeGreaterThan(117);
    expect(numbersIn(back.path).slice(0, 1)).toEqual([100]);
    expect(numbersIn(back.path).at(-2)).toBe(200);
  });

  it("are a loop at the left where a step at the right leaves no room", () => {
    const step = box(200, 0);
    expect(arcOf(step, 0, [step]).x).toBeGreaterThan(300);
    expect(arcOf(step, 0, [step, box(316, 0)]).x).toBeLessThan(200);
    expect(arcOf(step, 0, [step, box(316, 0), box(90, 0)]).x).toBeGreaterThan(300);
    expect(arcOf(step, 0, [step, box(316, 50)]).x).toBeGreaterThan(300);
  });
});
