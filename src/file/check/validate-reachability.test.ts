import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../builder.js";
import { loadDefinition } from "../load.js";

const options = { file: "x.yaml", checkExpression: () => null, checkTemplate: () => null };

/** Each step in one word, and the transitions as `from>to on`. */
function foundIn(steps: Record<string, string>, transitions: readonly string[] = []) {
  const lines = Object.entries(steps).map(([id, keys]) => `  ${id}: { type: noop${keys && `, ${keys}`} }`);
  const edges = transitions.map((edge) => {
    const [, from, to, on] = /^(\w+)>(\w+) (\w+)$/.exec(edge)!;
    return `  - { from: ${from}, to: ${to}, on: ${on}, then: skip }`.replace(
      on === "success" ? ", then: skip" : "",
      "",
    );
  });
  const text = `steps:\n${lines.join("\n")}\n${edges.length === 0 ? "" : `transitions:\n${edges.join("\n")}\n`}`;
  const result = loadDefinition(text, options);
  const told = result.ok ? result.warnings : result.problems;
  return {
    ok: result.ok,
    paths: told.filter(({ code }) => code === "UNREACHABLE_STEP").map(({ path }) => path),
    told,
  };
}

describe("a step that nothing can start", () => {
  it("is an error where steps only route to each other", () => {
    const loop = ["test>fix failure", "fix>test success"];
    const { ok, paths, told } = foundIn({ build: "", test: "", fix: "" }, loop);
    expect({ ok, paths }).toEqual({ ok: false, paths: ["steps.test", "steps.fix"] });
    expect(told[0]).toMatchObject({
      line: 3,
      message:
        "the step `test` can never run: it waits for a run list or a transition, and no step that runs has one to it",
      hint: "`test` waits because something routes to it; give it `start: auto` if it should start on its own.",
    });
    expect(foundIn({ build: "", test: "start: auto", fix: "" }, loop).paths).toEqual([]);
    expect(foundIn({ build: "", test: "depends_on: build", fix: "" }, loop).paths).toEqual([]);
    expect(foundIn({ build: "", test: "", fix: "" }, [...loop, "build>test success"]).paths).toEqual([]);
  });

  it("takes with it what depends on it", () => {
    const { ok, told } = foundIn({ a: "", b: "", c: "", d: "depends_on: c", e: "depends_on: 'a|d'" }, [
      "b>c failure",
      "c>b success",
    ]);
    expect(ok).toBe(false);
    expect(told.map(({ message }) => message)[2]).toBe(
      "the step `d` can never run: it needs `c`, which never runs",
    );
    expect(told).toHaveLength(3);
  });

  it("is a warning where the file itself says that it is only routed to: a person may start it", () => {
    const steps = {
      a: "",
      lost: "start: routed",
      behind: "depends_on: [a, lost]",
      either: "depends_on: a|lost",
    };
    const { ok, told } = foundIn(steps);
    expect(ok).toBe(true);
    expect(told.map(({ code, message }) => `${code} ${message}`)).toEqual([
      "UNREACHABLE_STEP the step `lost` never runs by itself: it waits for a run list or a transition, and no step that runs has one to it",
      "UNREACHABLE_STEP the step `behind` never runs by itself: it needs `lost`, which never runs",
    ]);
  });

  it("is not looked for where some run_js may name it, and may be an ancestor that a goto names", () => {
    expect(foundIn({ a: "on_success: { run_js: '[]' }", lost: "start: routed" }).told).toEqual([]);
    const steps = (goto: string) => ({
      a: "",
      spare: "start: routed",
      b: `depends_on: a|spare, on_fail: { ${goto} }`,
    });
    expect(foundIn(steps("goto: spare")).paths).toEqual([]);
    expect(foundIn(steps("goto_js: 'null'")).paths).toEqual([]);
    expect(foundIn(steps("retry: { max: 1 }")).paths).toEqual(["steps.spare"]);
  });

  it("is left unsaid behind another error, which may have cut it off", () => {
    const { ok, told } = foundIn({ a: "on_fail: { run: [fxi] }", fix: "", b: "" }, [
      "fix>b failure",
      "b>fix success",
    ]);
    expect(ok).toBe(false);
    expect(told.map(({ code }) => code)).toEqual(["UNKNOWN_STEP"]);
  });

  it("is refused in a program, too", () => {
    const steps = { a: { type: "noop" }, b: { type: "noop" }, c: { type: "noop" } } as const;
    const transitions = [
      { from: "b", to: "c" },
      { from: "c", to: "b" },
    ];
    expect(() => defineWorkflow({ name: "x", steps, transitions })).toThrow(/`b` can never run/);
  });
});
