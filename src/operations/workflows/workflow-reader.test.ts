import { afterEach, describe, expect, it } from "vitest";
import { editText } from "../../file/edit/edit-text.js";
import type { Context } from "../context.js";
import { editWorkflow } from "./edit-workflow.js";
import { checkWorkflow } from "./validate-workflow.js";
import { WorkflowReader, type WorkflowReaderLimits } from "./workflow-reader.js";
import { readWorkflowText } from "./workflow-source.js";

const PLACE = { file: "big.yaml", folder: "/srv", customActions: [] };
let readers: WorkflowReader[] = [];

function reader(limits: Partial<WorkflowReaderLimits> = {}): WorkflowReader {
  const made = new WorkflowReader(limits);
  readers.push(made);
  return made;
}

afterEach(async () => {
  for (const each of readers) await each.close();
  readers = [];
});

function workflow(steps: number, last = "exec: echo done"): string {
  const lines = Array.from({ length: steps }, (_, n) => `  s${n}: { exec: "echo ${n} ${"x".repeat(40)}" }`);
  return `name: big\nsteps:\n${lines.join("\n")}\n  last: { ${last} }\n`;
}

describe("a large workflow", () => {
  it("is read as a small one is, while everything else goes on", async () => {
    const source = workflow(2_000);
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 1);
    const reading = reader({ maxCharsAtOnce: 0 }).read(source, PLACE);
    const read = await reading;
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(3);
    expect(read).toEqual(readWorkflowText(source, PLACE));
  });

  it("is edited as a small one is, while everything else goes on", async () => {
    const source = `${workflow(2_000)}transitions:\n${"  - { from: s1, to: last, on: failure }\n".repeat(2_000)}`;
    const edit = { action: "change", transition: 2_000, keys: { on: "any" } } as const;
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 1);
    const edited = await reader().edit(source, edit, "big.yaml");
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(3);
    expect(edited).toBe(editText(source, edit));
  });

  it("that cannot be edited is refused as a small one is", async () => {
    const edit = { action: "remove", transition: 1 } as const;
    for (const maxCharsAtOnce of [0, 1_000_000])
      await expect(reader({ maxCharsAtOnce }).edit(workflow(2), edit, "big.yaml")).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: "the text has no transition 1",
        hint: "Read the text again: it has changed.",
      });
  });

  it("with problems is refused with all of them", async () => {
    const source = workflow(2_000, "exec: x, goto: nowhere");
    const expected = expect.objectContaining({ code: "UNKNOWN_KEY", line: 2_003 });
    await expect(reader().read(source, PLACE)).rejects.toMatchObject({ problems: [expected] });
  });

  it("that takes too long is given up, and the next one is read", async () => {
    const slow = reader({ deadlineMs: 1, maxThreads: 1 });
    const refusals = await Promise.allSettled([
      slow.read(workflow(2_000), PLACE),
      slow.read(workflow(2_000), PLACE),
    ]);
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ status: "rejected", reason: { code: "WORKFLOW_TOO_LARGE" } });
    const check = await checkWorkflow({ customActions: [], workflowReader: slow }, workflow(2_000), {
      file: "big.yaml",
    });
    expect(check).toMatchObject({ ok: false, problems: [{ code: "WORKFLOW_TOO_LARGE" }] });
  });

  it("is never edited where everything else would wait", async () => {
    const context = { workflowReader: reader({ deadlineMs: 1 }) } as unknown as Context;
    const request = { action: "add", source: workflow(2_000), file_name: "big.yaml", from: "s1", to: "last" };
    await expect(editWorkflow.handler(context, request as never)).rejects.toMatchObject({
      code: "WORKFLOW_TOO_LARGE",
    });
  });

  it("waits for its turn, and is refused where too many wait", async () => {
    const busy = reader({ maxThreads: 1, maxWaiting: 1 });
    const source = workflow(2_000);
    const taken = [busy.read(source, PLACE), busy.read(source, PLACE)];
    await expect(busy.read(source, PLACE)).rejects.toMatchObject({ code: "WORKFLOW_READER_BUSY" });
    const check = checkWorkflow({ customActions: [], workflowReader: busy }, source, { file: "big.yaml" });
    await expect(check).rejects.toMatchObject({ code: "WORKFLOW_READER_BUSY" });
    for (const { definition } of await Promise.all(taken)) expect(definition.name).toBe("big");
  });

  it("is refused by a server that goes down", async () => {
    const closing = reader({ maxThreads: 1 });
    const taken = [closing.read(workflow(2_000), PLACE), closing.read(workflow(2_000), PLACE)];
    const outcomes = Promise.allSettled(taken);
    await closing.close();
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "SERVER_STOPPING" } });
  });
});
