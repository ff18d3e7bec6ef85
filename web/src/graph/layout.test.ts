import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LayoutInput, layOut, NODE_HEIGHT } from "./layout.js";

const node = (name: string) => ({ name, width: 100 });
const graph = (edges: string, more: Partial<LayoutInput> = {}): LayoutInput => {
  const pairs = edges
    .split(" ")
    .filter(Boolean)
    .map((edge) => edge.split(">") as [string, string]);
  const names = [...new Set([...pairs.flat(), ...(more.routes ?? []).flatMap(({ from, to }) => [from, to])])];
  return { nodes: names.map(node), edges: pairs.map(([from, to]) => ({ from, to })), routes: [], ...more };
};

/** Names by layer, from left to right. */
function rows(input: LayoutInput): string[] {
  const { boxes } = layOut(input);
  const byHeight = new Map<number, string[]>();
  for (const [name, { y }] of [...boxes].sort(([, one], [, other]) => one.x - other.x))
    byHeight.set(y, [...(byHeight.get(y) ?? []), name]);
  return [...byHeight].sort(([one], [other]) => one - other).map(([, names]) => names.join(" "));
}

describe("the layout of a graph", () => {
  it("puts every step below all that it depends on", () => {
    expect(rows(graph("a>b a>c b>d c>d a>d"))).toEqual(["a", "b c", "d"]);
  });

  it("orders a layer by where its neighbours are, so that edges do not cross", () => {
    expect(
      rows(
        graph("a>x b>y c>z a>a2 r>a r>b r>c", { nodes: ["r", "a", "b", "c", "z", "y", "x", "a2"].map(node) }),
      )[2],
    ).toMatch(/^(x a2|a2 x) y z$/);
  });

  it("puts a repair beside its step, and the target of a failure edge below", () => {
    const routes = [
      { from: "b", to: "fix", below: false },
      { from: "c", to: "undo", below: true },
    ];
    const [first, second, third, fourth] = rows(graph("a>b b>c", { routes }));
    expect([first, second!.split(" ").sort(), third, fourth]).toEqual(["a", ["b", "fix"], "c", "undo"]);
  });

  it("leads a long edge past the steps between its ends, also one that decides no layer", () => {
    const input = graph("a>b b>c c>d a>d", { routes: [{ from: "b", to: "d", below: true }] });
    const { boxes, bends } = layOut(input);
    expect([...bends].map(([key, passed]) => [key, passed.length])).toEqual([
      ["a\nd", 2],
      ["b\nd", 1],
    ]);
    const beside = [...bends.values()].flat();
    for (const { x, top, bottom } of beside)
      for (const box of boxes.values())
        if (box.y >= top && box.y < bottom) expect(x < box.x || x > box.x + box.width).toBe(true);
  });

  it("leaves room for the arcs between a step and its repair, and for the text of a failure edge", () => {
    const routes = [
      { from: "b", to: "fix", below: false },
      { from: "c", to: "undo", below: true },
    ];
    const { boxes } = layOut(graph("a>b b>c", { routes }));
    const [b, c, fix, undo] = ["b", "c", "fix", "undo"].map((name) => boxes.get(name)!);
    expect(Math.max(b!.x, fix!.x) - Math.min(b!.x, fix!.x) - 100).toBeGreaterThan(34);
    const gap = (above: { y: number }, below: { y: number }) => below.y - above.y - NODE_HEIGHT;
    expect(gap(c!, undo!)).toBeGreaterThan(gap(b!, c!) + 10);
  });

  it("lays out 2,000 steps and 4,000 edges", { tags: ["P16"] }, () => {
    const nodes = Array.from({ length: 2_000 }, (_, at) => node(`s${at}`));
    const above = (at: number, by: number) => ({ from: `s${at - by}`, to: `s${at}` });
    const edges = nodes.slice(50).flatMap((_, at) => [above(at + 50, 40), above(at + 50, 41)]);
    const more = nodes.slice(0, 100).map((_, at) => ({ from: `s${at}`, to: `s${at + 1_900}` }));
    const began = performance.now();
    const { boxes } = layOut({ nodes, edges: [...edges, ...more], routes: [] });
    // Printed, not asserted, because it depends on what else the machine does.
    console.log(`2,000 steps and 4,000 edges laid out in ${Math.round(performance.now() - began)} ms`);
    expect(edges.length + more.length).toBe(4_000);
    expect(boxes.size).toBe(2_000);
    for (const { from, to } of edges) expect(boxes.get(to)!.y).toBeGreaterThan(boxes.get(from)!.y);
  });

  it("draws a circle, edges to nowhere and nothing at all", () => {
    expect(rows(graph("a>b b>c c>a"))).toHaveLength(3);
    expect(layOut({ nodes: [node("a")], edges: [{ from: "a", to: "gone" }], routes: [] }).boxes.size).toBe(1);
    expect(layOut({ nodes: [], edges: [], routes: [] })).toMatchObject({ width: 0, height: 0 });
  });

  it("lets no two steps overlap, none leave the picture, whatever the graph", () => {
    const names = fc.integer({ min: 1, max: 40 });
    const input = names.chain((count) =>
      fc.record({
        nodes: fc.tuple(
          ...Array.from({ length: count }, (_, at) =>
            fc.record({ name: fc.constant(`n${at}`), width: fc.integer({ min: 20, max: 300 }) }),
          ),
        ),
        edges: fc.array(
          fc.record({
            from: fc.nat(count - 1).map((at) => `n${at}`),
            to: fc.nat(count - 1).map((at) => `n${at}`),
          }),
          { maxLength: 80 },
        ),
        routes: fc.array(
          fc.record({
            from: fc.nat(count - 1).map((at) => `n${at}`),
            to: fc.nat(count - 1).map((at) => `n${at}`),
            below: fc.boolean(),
          }),
          { maxLength: 20 },
        ),
      }),
    );
    fc.assert(
      fc.property(input, (given) => {
        const { boxes, bends, width, height } = layOut(given);
        for (const { x, top, bottom } of [...bends.values()].flat())
          for (const box of boxes.values())
            if (box.y >= top && box.y < bottom) expect(x <= box.x || x >= box.x + box.width).toBe(true);
        const all = [...boxes.values()];
        expect(all).toHaveLength(given.nodes.length);
        for (const [at, one] of all.entries()) {
          expect(one.x).toBeGreaterThanOrEqual(0);
          expect(one.x + one.width).toBeLessThanOrEqual(width + 0.001);
          expect(one.y + NODE_HEIGHT).toBeLessThanOrEqual(height + 0.001);
          for (const other of all.slice(at + 1))
            if (one.y === other.y)
              expect(one.x + one.width <= other.x + 0.001 || other.x + other.width <= one.x + 0.001).toBe(
                true,
              );
        }
      }),
    );
  });
});
