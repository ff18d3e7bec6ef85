import { describe, expect, it } from "vitest";
import { arcOf, backArcOf, edgePath } from "./edge-paths.js";

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

  it("go up on the side where no step is in the way", () => {
    const [start, end, left, right] = [box(200, 200), box(200, 0), box(60, 200), box(340, 200)];
    expect(backArcOf(start, end, 0, [start, end, left])).toMatchObject({ side: "right" });
    expect(backArcOf(start, end, 0, [start, end, left]).x).toBeGreaterThan(300);
    expect(backArcOf(start, end, 0, [start, end, right])).toMatchObject({ side: "left" });
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

describe("the path of an edge", () => {
  it("goes straight down where it passes a layer", () => {
    const path = edgePath(box(0, 0), box(0, 200), [{ x: 130, top: 80, bottom: 120 }]);
    expect(path).toContain(" 130 80V120C130 ");
    expect(path.endsWith(" 50 200")).toBe(true);
  });
});
