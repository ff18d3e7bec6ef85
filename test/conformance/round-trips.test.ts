import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { WorkflowInput } from "../../src/file/builder.js";
import { Daruma, defineWorkflow } from "../../src/index.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-trips-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How often each verb of the store is called by a chain of so many steps. */
async function callsOf(length: number): Promise<Map<string, number>> {
  const calls = new Map<string, number>();
  const counted = new Proxy(createMemoryStore(), {
    get(store, verb: keyof Store & string) {
      const value: unknown = store[verb];
      if (typeof value !== "function") return value;
      return (...words: unknown[]): unknown => {
        calls.set(verb, (calls.get(verb) ?? 0) + 1);
        return value.apply(store, words);
      };
    },
  });
  const actions = { work: async () => null };
  const daruma = await Daruma.open({ store: counted, outputDir: join(folder, String(length)), actions });
  const steps = Object.fromEntries(
    Array.from({ length }, (_, at) => [
      `s${at}`,
      { type: "work", ...(at > 0 ? { depends_on: [`s${at - 1}`] } : {}) },
    ]),
  );
  const workflow = { name: "chain", steps } as WorkflowInput;
  const { result } = await daruma.start(defineWorkflow(workflow, { actions: ["work"] }));
  expect((await result).status).toBe("completed");
  await daruma.close();
  return calls;
}

describe("a chain of steps", () => {
  it("takes one commit a step, its end with the start of the next, and nothing else of the store", async () => {
    const [short, long] = [await callsOf(10), await callsOf(40)];
    // Leases are renewed by the clock, however many steps there are.
    const ofSteps = [...long].filter(([verb]) => !/lease/i.test(verb));
    const grown = ofSteps.filter(([verb, count]) => count !== short.get(verb));
    expect(grown).toEqual([["commit", short.get("commit")! + 30]]);
  });
});
