import { describe, expect, it } from "vitest";
import type { DarumaError } from "../../src/core/errors/errors.js";
import type { OutputOf } from "../../src/operations/client.js";
import { callIn, OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();
const HELD = `name: holding
unhandled: hold
steps:
  disk: { type: command, exec: "echo full >&2; exit 3" }
  net: { type: command, exec: "exit 4", outputs: { type: object, required: [rows] } }
  after: { type: noop, depends_on: [disk, net] }
`;

async function held(): Promise<{ run_id: number; disk: number; net: number }> {
  const { run_id, jobs } = await bench.run(HELD);
  return { run_id, disk: jobs[0]!.id, net: jobs[1]!.id };
}

async function reasonsOf(run_id: number): Promise<unknown[]> {
  const { items } = await bench.call("list_run_events", { run_id, limit: 1_000 });
  return items.filter(({ type }) => type === "hold.resolved").map(({ reason }) => reason);
}

const codes = ({ results }: Pick<OutputOf<"resolve_holds">, "results">): (string | null)[] =>
  results.map(({ error }) => error?.code ?? null);

/** What a refused list says of each of its decisions. */
async function refusedCodes(asked: Promise<unknown>): Promise<(string | null)[]> {
  const error = await asked.then(
    () => new Error("not refused"),
    (refused: DarumaError) => refused,
  );
  expect(error).toMatchObject({ code: "DECISIONS_REFUSED" });
  return codes((error as DarumaError).details as Pick<OutputOf<"resolve_holds">, "results">);
}

describe("holds", () => {
  it("are listed with what a decision needs, of one run or of all", async () => {
    const { run_id, disk } = await held();
    const { items } = await bench.call("list_holds", { run_id });
    expect(items.map(({ step }) => step)).toEqual(["disk", "net"]);
    expect(items[0]).toMatchObject({
      id: disk,
      attempts: 1,
      error: { code: "EXIT_3", class: "application", exit_code: 3, stderr_tail: "full\n" },
      kind: "hold",
      blocks: { steps: 1, names: ["after"], layers: [1], of: 3 },
      question: null,
      decisions: ["retry", "fail", "skip"].map((action) => ({
        decision: action,
        operation: "resolve_holds",
        input: { classifications: [{ job_id: disk, action }] },
      })),
    });
    const events = (await bench.call("list_run_events", { run_id, limit: 1_000 })).items;
    for (const { since, step } of items)
      expect(since).toBe(events.find((event) => event.type === "job.held" && event.step === step)?.at);
    const all = await bench.call("list_holds", {});
    expect(all.items.filter((each) => each.run_id === run_id)).toEqual(items);
  });

  it("have the lines that tell what broke, and no step that does not wait for them", async () => {
    const { run_id } = await bench.run(`name: noisy
unhandled: hold
steps:
  loud: { type: command, exec: "echo 'Error: first' >&2; echo quiet >&2; echo 'fatal: last' >&2; exit 3" }
  plain: { type: command, exec: "echo 'on stdout: it failed'; exit 1" }
  skipped: { type: noop, if: "false", depends_on: [first] }
  first: { type: noop }
`);
    const { items } = await bench.call("list_holds", { run_id });
    expect(items.map(({ step, blocks, error_lines }) => [step, blocks.steps, error_lines])).toEqual([
      ["loud", 0, ["Error: first", "quiet", "fatal: last"]],
      ["plain", 0, ["on stdout: it failed"]],
    ]);
  });

  it("of one run are decided together, each with its own reason", async () => {
    const { run_id, disk, net } = await held();
    const answer = await bench.call("resolve_holds", {
      classifications: [
        { job_id: disk, action: "skip", reason: "not today" },
        { job_id: net, action: "complete", reason: "known", output: { rows: 0 } },
      ],
    });
    expect(answer).toMatchObject({ applied: true, dry_run: false, runs: [{ run_id, before: "held" }] });
    expect(answer.results.map(({ step, action, ok }) => [step, action, ok])).toEqual([
      ["disk", "skip", true],
      ["net", "complete", true],
    ]);
    expect(await bench.settled(run_id)).toMatchObject({ status: "completed" });
    expect(await reasonsOf(run_id)).toEqual(["not today", "known"]);
  });

  it("are not touched if one decision is refused, and each result says why", async () => {
    const { run_id, disk, net } = await held();
    const before = await bench.call("list_run_events", { run_id, limit: 1_000 });
    const ask = (dry_run: boolean) =>
      bench.call("resolve_holds", {
        classifications: [
          { job_id: disk, action: "retry" },
          { job_id: net, action: "complete", output: { columns: 1 } },
          { job_id: 7, action: "fail" },
          { job_id: disk, action: "fail" },
        ],
        dry_run,
      });
    const why = [null, "OUTPUT_INVALID", "JOB_NOT_FOUND", "INVALID_INPUT"];
    expect(await refusedCodes(ask(false))).toEqual(why);
    const dry = await ask(true);
    expect(dry).toMatchObject({ applied: false, dry_run: true, runs: [] });
    expect(codes(dry)).toEqual(why);
    expect(await bench.call("list_run_events", { run_id, limit: 1_000 })).toEqual(before);
  });

  it("of several runs are all checked before any is decided", async () => {
    const [first, second] = [await held(), await held()];
    const decide = (net: "retry" | "complete", key: string) =>
      bench.call("resolve_holds", {
        classifications: [
          { job_id: first.disk, action: "fail" },
          { job_id: first.net, action: "fail" },
          { job_id: second.disk, action: "fail" },
          { job_id: second.net, action: net },
        ],
        key,
      });
    expect(await refusedCodes(decide("complete", "k"))).toEqual([null, null, null, "OUTPUT_INVALID"]);
    expect((await bench.call("get_run", { run_id: first.run_id })).status).toBe("held");
    const answer = await decide("retry", "k");
    expect(answer.runs.map(({ run_id }) => run_id)).toEqual([first.run_id, second.run_id]);
    expect((await bench.settled(first.run_id)).status).toBe("failed");
  });

  it("that somebody else decided a moment earlier are refused alike, and the other runs' decisions are taken", async () => {
    const [first, second] = [await held(), await held()];
    const { context } = bench;
    // Between the check of the whole list and the decision.
    const operate: typeof context.operate = async (runId, command) => {
      if (runId === first.run_id)
        await bench.call("update_job", { job_id: first.disk, status: "failed", reason: "faster" });
      return context.operate(runId, command);
    };
    const classifications = [first, second].map(({ disk }) => ({ job_id: disk, action: "fail" as const }));
    const asked = callIn({ ...context, operate }, "resolve_holds", { classifications });
    await expect(asked.catch(({ message }) => message)).resolves.toMatch(
      new RegExp(
        `^1 of 2 decisions is refused; those of run ${second.run_id} were taken: job ${first.disk}: `,
      ),
    );
    expect(await refusedCodes(asked)).toEqual(["NOT_HELD", null]);
    expect(await reasonsOf(second.run_id)).toEqual(["by hand"]);
  });

  it("with dry_run are left as they are, and the answer says what would be", async () => {
    const { run_id, disk } = await held();
    const answer = await bench.call("resolve_holds", {
      classifications: [{ job_id: disk, action: "fail" }],
      dry_run: true,
    });
    expect(answer).toMatchObject({ applied: false, dry_run: true });
    expect(answer.runs[0]!.changed).toContainEqual({
      job_id: disk,
      step: "disk",
      scope: "root",
      from: "held",
      to: "failed",
      attempt_id: 1,
    });
    expect((await bench.call("get_run", { run_id })).jobs[0]!.status).toBe("held");
  });

  it("are decided once by one key, however often it is given", async () => {
    const { run_id, disk } = await held();
    const decide = () =>
      bench.call("resolve_holds", {
        classifications: [{ job_id: disk, action: "skip", reason: "once" }],
        key: "same",
      });
    const first = await decide();
    expect(first.runs[0]!.changed).toHaveLength(1);
    expect(await decide()).toEqual(first);
    expect(await reasonsOf(run_id)).toEqual(["once"]);
  });
});

const ASKING = `name: asking
steps:
  ask: { type: human, prompt: "Ship {{ inputs.version }}?", choices: [ship, wait, drop], reject: [drop] }
  delayed: { type: command, exec: "exit 1", on_fail: { retry: { max: 1, backoff: { delay_ms: 600000 } } } }
  after: { type: noop, depends_on: [ask] }
inputs: { version: { type: string, default: "7" } }
`;

describe("open questions", () => {
  it("are listed beside holds until they are answered, each choice as the call that takes it", async () => {
    const { run_id } = await bench.call("start_run", { source: ASKING });
    // A job that waits for its backoff waits for nobody.
    await bench.until(run_id, ({ jobs }) => jobs.slice(0, 2).every(({ status }) => status === "waiting"));
    const { items } = await bench.call("list_holds", { run_id });
    expect(items.map(({ step, kind }) => [step, kind])).toEqual([["ask", "question"]]);
    const [asked] = items;
    expect(asked).toMatchObject({
      question: { prompt: "Ship 7?", choices: ["ship", "wait", "drop"] },
      decisions: [
        { decision: "ship", operation: "answer_job", input: { job_id: asked!.id, choice: "ship" } },
        { decision: "wait" },
        { decision: "drop" },
      ],
    });
    const { items: events } = await bench.call("list_run_events", { run_id, limit: 1_000 });
    expect(asked!.since).toBe(events.find(({ type }) => type === "human.asked")!.at);
    expect((await bench.call("get_run", { run_id })).summary.holds).toEqual(items);
    const { operation, input } = asked!.decisions[0]!;
    await bench.call(operation, input as never);
    expect((await bench.call("list_holds", { run_id })).items).toEqual([]);
    await bench.call("control_run", { run_id, action: "cancel" });
  });

  it("that were asked in vain are none any more: a rejected one is a hold, if the file holds", async () => {
    const { run_id } = await bench.call("start_run", { source: `unhandled: hold\n${ASKING}` });
    const asking = await bench.until(run_id, ({ jobs }) => jobs[0]!.status === "waiting");
    await bench.call("answer_job", { job_id: asking.jobs[0]!.id, choice: "drop" });
    const { items } = await bench.call("list_holds", { run_id });
    expect(items.map(({ step, kind, question }) => [step, kind, question])).toEqual([["ask", "hold", null]]);
    await bench.call("control_run", { run_id, action: "cancel" });
  });
});
