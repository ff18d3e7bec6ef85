import { describe, expect, it } from "vitest";
import { loadDefinition } from "./load.js";

const OPTIONS = { file: "flow.yaml", checkExpression: () => null, checkTemplate: () => null };

const STEPS = "steps: { a: { type: noop } }";

function problemsOf(labels: string): string[] {
  const loaded = loadDefinition(`labels: ${labels}\n${STEPS}`, OPTIONS);
  return loaded.ok ? [] : loaded.problems.map(({ code, line, path }) => `${code} ${line} ${path}`);
}

describe("labels of a workflow file", () => {
  it("are texts, whatever they look like", () => {
    const loaded = loadDefinition(
      `labels: { team: core, app/tier: 1.10, ok: true, note: "" }\n${STEPS}`,
      OPTIONS,
    );
    expect(loaded.ok && loaded.definition.labels).toEqual({
      ...{ team: "core", "app/tier": "1.10", ok: "true", note: "" },
    });
  });

  it("are left out of a definition that has none, so that its hash stays as it was", () => {
    for (const text of [STEPS, `labels: {}\n${STEPS}`]) {
      const loaded = loadDefinition(text, OPTIONS);
      expect(loaded.ok && "labels" in loaded.definition).toBe(false);
    }
  });

  it("are refused where a key or a value is not allowed, or there are too many", () => {
    expect(problemsOf("{ -team: core }")).toEqual(["INVALID_VALUE 1 labels.-team"]);
    expect(problemsOf("{ 'a b': core }")).toEqual(["INVALID_VALUE 1 labels.a b"]);
    expect(problemsOf(`{ ${"k".repeat(64)}: x }`)).toEqual([`INVALID_VALUE 1 labels.${"k".repeat(64)}`]);
    expect(problemsOf(`{ a: ${"v".repeat(201)} }`)).toEqual(["INVALID_VALUE 1 labels.a"]);
    expect(problemsOf('{ a: "x,y" }')).toEqual(["INVALID_VALUE 1 labels.a"]);
    expect(problemsOf('{ a: "x\\ny" }')).toEqual(["INVALID_VALUE 1 labels.a"]);
    expect(problemsOf("{ a: [x] }")).toEqual(["WRONG_TYPE 1 labels.a"]);
    const many = (count: number) => `{ ${Array.from({ length: count }, (_, i) => `k${i}: v`).join(", ")} }`;
    expect(problemsOf(many(32))).toEqual([]);
    expect(problemsOf(many(33))).toEqual(["INVALID_VALUE 1 labels"]);
  });
});
