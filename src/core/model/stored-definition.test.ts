import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../definition/builder.js";
import type { Definition, StepDefinition } from "./definition.js";
import { parseStoredDefinition } from "./stored-definition.js";

function readBack(definition: unknown): Definition {
  return parseStoredDefinition(JSON.stringify(definition), "hash");
}

/** Fields in which the two steps hold the very same object. */
function sharedBy(one: StepDefinition, other: StepDefinition): string[] {
  return Object.entries(one).flatMap(([field, value]) =>
    typeof value === "object" && value !== null && value === other[field as keyof StepDefinition]
      ? [field]
      : [],
  );
}

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

  it("says what was written, key by key in the same order, so that its hash stays", () => {
    expect(JSON.stringify(readBack(written))).toBe(JSON.stringify(written));
  });

  it("holds once what its steps leave to the defaults", () => {
    const [plain, other, full] = readBack(written).steps;
    const usual = ["dependsOn", "env", "join", "onFail", "onSuccess", "tags", "runsOn"];
    expect(sharedBy(plain!, other!)).toEqual(usual);
    expect(sharedBy(plain!, full!)).toEqual(["join"]);
  });

  it("keeps the keys and the order of an older Daruma", () => {
    const { runsOn: _, ...plain } = written.steps[0]!;
    const { gotoMax: __, ...onSuccess } = plain.onSuccess;
    const { retry, ...rest } = plain.onFail;
    const old = { ...written, steps: [{ ...plain, onSuccess, onFail: { retry, ...rest } }] };
    const [step] = readBack(old).steps;
    expect(step!.runsOn).toEqual([]);
    expect(Object.keys(step!.onSuccess)).not.toContain("gotoMax");
    expect(Object.keys(step!.onFail)[0]).toBe("retry");
  });
});
