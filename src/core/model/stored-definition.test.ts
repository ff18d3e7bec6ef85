import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../file/builder.js";
import type { Definition, StepDefinition } from "./definition.js";
import { parseStoredDefinition, storedText } from "./stored-definition.js";

function readBack(definition: Definition): Definition {
  return parseStoredDefinition(storedText(definition), "hash");
}

/** As a Daruma stored it that wrote all that it knew of each step. */
function readBackFull(definition: unknown): Definition {
  return parseStoredDefinition(JSON.stringify(definition), "hash");
}

function stepsAsStored(definition: Definition): unknown[] {
  return (JSON.parse(storedText(definition)) as { steps: unknown[] }).steps;
}

/** Fields in which the two steps hold the very same object. */
function sharedBy(one: StepDefinition, other: StepDefinition): string[] {
  return Object.entries(one).flatMap(([field, value]) =>
    typeof value === "object" && value !== null && value === other[field as keyof StepDefinition]
      ? [field]
      : [],
  );
}

describe("the text of a definition", () => {
  it("is its JSON, with the keys in their order and without those that have no value", () => {
    const plain = defineWorkflow({ name: 'a "b"', steps: { one: { type: "noop" }, two: { type: "noop" } } });
    const { name, ...rest } = plain;
    const given = { ...rest, name, description: undefined } as unknown as Definition;
    const steps = ["one", "two"].map((id) => ({ id, action: { type: "noop" } }));
    expect(storedText(given)).toBe(JSON.stringify({ ...given, steps }));
  });
});

describe("a definition that is read back", () => {
  const written = defineWorkflow({
    name: "read back",
    steps: {
      plain: { type: "noop" },
      other: { type: "noop" },
      full: {
        ...{ type: "noop", depends_on: ["plain"], env: { A: "1" }, tags: ["t"], runs_on: ["gpu"] },
        ...{ on_fail: { retry: { max: 1 } }, on_success: { goto: { step: "plain", max: 1 } } },
      },
    },
  });

  it("says what was written, key by key in the same order", () => {
    expect(JSON.stringify(readBack(written))).toBe(JSON.stringify(written));
    expect(JSON.stringify(readBackFull(written))).toBe(JSON.stringify(written));
  });

  it("is stored under the same text again, so that its hash stays", () => {
    expect(storedText(readBack(written))).toBe(storedText(written));
    expect(storedText(readBackFull(written))).toBe(storedText(written));
  });

  it("has in its text only what is unusual in a step", () => {
    expect(stepsAsStored(written)).toEqual([
      { id: "plain", action: { type: "noop" } },
      { id: "other", action: { type: "noop" } },
      {
        ...{ id: "full", action: { type: "noop" }, dependsOn: [["plain"]], env: { A: "1" } },
        ...{ onFail: written.steps[2]!.onFail, onSuccess: written.steps[2]!.onSuccess },
        ...{ tags: ["t"], runsOn: ["gpu"] },
      },
    ]);
  });

  it("has in its text what looks usual but is not", () => {
    const [plain] = written.steps;
    const odd = { ...plain!, killGraceMs: 0, forEach: true, env: { A: "" }, timeoutMs: 0 };
    expect(stepsAsStored({ ...written, steps: [odd] })).toEqual([
      {
        ...{ id: "plain", action: { type: "noop" } },
        env: { A: "" },
        timeoutMs: 0,
        killGraceMs: 0,
        forEach: true,
      },
    ]);
    expect(readBack({ ...written, steps: [odd] }).steps).toEqual([odd]);
  });

  it("holds once what its steps leave to the defaults", () => {
    const [plain, other, full] = readBack(written).steps;
    const usual = ["dependsOn", "env", "join", "onFail", "onSuccess", "tags", "runsOn"];
    expect(sharedBy(plain!, other!)).toEqual(usual);
    expect(sharedBy(plain!, full!)).toEqual(["join"]);
  });

  it("takes what an older Daruma did not write to be as it was then", () => {
    const { runsOn: _, ...plain } = written.steps[0]!;
    const { gotoMax: __, ...onSuccess } = plain.onSuccess;
    const { retry, ...rest } = plain.onFail;
    const old = { ...written, steps: [{ ...plain, onSuccess, onFail: { retry, ...rest } }] };
    const [step] = readBackFull(old).steps;
    expect(step!.runsOn).toEqual([]);
    expect(Object.keys(step!.onSuccess)).not.toContain("gotoMax");
    expect(Object.keys(step!.onFail)[0]).toBe("retry");
  });
});
