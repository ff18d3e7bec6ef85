import { describe, expect, it } from "vitest";
import { layOut } from "./layout.js";
import { centre, fitted, isSeen, neighbour, showsNames, zoomAt } from "./view.js";

const size = { width: 800, height: 600 };
const layout = layOut({
  nodes: ["a", "b", "c", "d"].map((name) => ({ name, width: 100 })),
  edges: [
    { from: "a", to: "b" },
    { from: "a", to: "c" },
    { from: "b", to: "d" },
  ],
  routes: [],
});
const edges = [
  { from: "a", to: "b" },
  { from: "a", to: "c" },
  { from: "b", to: "d" },
];

describe("the view of a graph", () => {
  it("zooms around a point, which stays where it is", () => {
    const view = { x: 10, y: 20, scale: 1 };
    const point = { x: 200, y: 100 };
    const next = zoomAt(view, 2, point);
    expect((point.x - next.x) / next.scale).toBeCloseTo((point.x - view.x) / view.scale);
    expect(zoomAt(view, 1_000, point).scale).toBe(3);
    expect(zoomAt(view, 0.000_1, point).scale).toBe(0.03);
  });

  it("fits a large graph into the window and leaves a small one as it is", () => {
    const large = fitted({ width: 8_000, height: 3_000 }, size);
    expect(large.scale).toBeCloseTo(0.094);
    expect(8_000 * large.scale + large.x).toBeLessThanOrEqual(800);
    expect(fitted(layout, size).scale).toBe(1);
  });

  it("knows what is in the window", () => {
    const box = { x: 1_000, y: 1_000, width: 100 };
    expect(isSeen(box, { x: 0, y: 0, scale: 1 }, size)).toBe(false);
    expect(isSeen(box, centre(box, size, 1), size)).toBe(true);
    expect(isSeen(box, { x: 0, y: 0, scale: 0.4 }, size)).toBe(true);
  });

  it("hides names only where there are many and they are small", () => {
    expect([showsNames(300, 0.1), showsNames(301, 0.59), showsNames(301, 0.6)]).toEqual([true, false, true]);
  });

  it("leads along edges and among a row", () => {
    expect(neighbour(layout, edges, "b", "up")).toBe("a");
    expect(neighbour(layout, edges, "b", "down")).toBe("d");
    const [left, right] = layout.boxes.get("b")!.x < layout.boxes.get("c")!.x ? ["b", "c"] : ["c", "b"];
    expect(neighbour(layout, edges, left!, "right")).toBe(right);
    expect(neighbour(layout, edges, right!, "left")).toBe(left);
    expect(neighbour(layout, edges, "a", "up")).toBeNull();
  });
});
