import { describe, expect, it } from "vitest";
import { type BookEntry, type BookRow, sumRows, triageState } from "../../src/core/book/book.js";
import { rowsOfLog } from "../support/rows-of-log.js";
import { Stage } from "../support/stage.js";

const refused = { exit: 7, stderr: "connect ECONNREFUSED 10.0.0.1:443" };
const missing = { exit: 2, stderr: "module not found" };
const lost = { facts: { lost: true, message: "gone" } };

const rowsOf = (stage: Stage): Promise<BookRow[]> => stage.store.listUnrolled(null, 1_000);

/** Step, code, what acted, and with an end what had been tried. */
async function told(stage: Stage): Promise<string[]> {
  return (await rowsOf(stage)).map(({ kind, step, code, action, tried, first_in_run }) =>
    kind === "met"
      ? `${step} ${code} ${action}${first_in_run ? " first" : ""}`
      : `${step} ${code} ${action === null ? "not rescued" : `rescued by ${action}`}${tried.length === 0 ? "" : `, tried ${tried.join(" ")}`}`,
  );
}

async function entriesOf(stage: Stage): Promise<BookEntry[]> {
  return [...sumRows(new Map(), await rowsOf(stage)).values()];
}

const file = (steps: string, ...keys: string[]): string =>
  `name: book\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const RETRIED = "{ type: noop, on_fail: { retry: { max: 2 } } }";

describe("what a run tells the failure book", () => {
  it("is one row for each failure, and one for each when its job ends", { tags: ["B1"] }, async () => {
    const stage = await Stage.begin(file(`  call: ${RETRIED}`), { call: [refused, missing, "ok"] });
    await stage.rest();
    expect(await told(stage)).toEqual([
      "call EXIT_7 retry first",
      "call EXIT_2 retry first",
      "call EXIT_7 rescued by retry",
      "call EXIT_2 rescued by retry",
    ]);
  });

  it("credits what acted last on a failure, and counts all else as tried", { tags: ["B2"] }, async () => {
    const text = file(
      `  setup: { type: noop }
  call: { type: noop, depends_on: [setup], on_fail: { retry: { max: 1 }, run: [fix], goto: setup } }
  fix: { type: noop }`,
    );
    const stage = await Stage.begin(text, { call: [refused, refused, refused, "ok"] });
    await stage.rest();
    expect(await told(stage)).toEqual([
      "call EXIT_7 retry first",
      "call EXIT_7 remediate",
      "call EXIT_7 goto",
      "call EXIT_7 rescued by goto, tried retry remediate",
    ]);
    expect(await entriesOf(stage)).toMatchObject([
      {
        occurrences: 3,
        runs: 1,
        rescues: {
          goto: { rescued: 1, tried: 0 },
          retry: { rescued: 0, tried: 1 },
          remediate: { rescued: 0, tried: 1 },
        },
      },
    ]);
  });

  it("is one failure for items that differ in numbers and names of files only, and another for another code", async () => {
    const text = file(
      '  list: { type: noop, forEach: true }\n  decode: { exec: "decode {{ foreach.key | sh }}", depends_on: [list] }',
    );
    const corrupt = (frame: number, name: string) => ({
      exit: 1,
      said: `${name}: corrupt JPEG data in frame ${frame}`,
    });
    const stage = await Stage.begin(
      text,
      {
        list: [{ output: ["a", "b", "c", "d"] }],
        decode: ({ variables }) =>
          [
            corrupt(5, "img-0005.jpg"),
            corrupt(179, "cat.jpg"),
            { ...corrupt(7, "dog.jpg"), exit: 2 },
            { exit: 1, said: "dog.jpg: cannot open" },
          ][(variables.foreach as { index: number }).index]!,
      },
      { capacity: 1 },
    );
    const { events } = await stage.rest();
    expect(events("attempt.failed")).toHaveLength(4);
    const entries = await entriesOf(stage);
    expect(entries.map(({ code, sample, occurrences }) => [code, sample, occurrences])).toEqual([
      ["EXIT_1", "cat.jpg: corrupt JPEG data in frame 179", 2],
      ["EXIT_2", "dog.jpg: corrupt JPEG data in frame 7", 1],
      ["EXIT_1", "dog.jpg: cannot open", 1],
    ]);
  });

  it("is one failure of the job as the file writes it for all that it makes, met in one run", async () => {
    const text = `name: sweep
jobs:
  - { name: "train_{i}", parameters: { i: "1:3" }, command: x, on_fail: { retry: { max: 1 } } }
  - { name: alone, command: x }`;
    const stage = await Stage.begin(
      text,
      { train_1: [refused], train_2: [refused, "ok"], train_3: [missing], alone: [refused] },
      { capacity: 1 },
    );
    await stage.rest();
    const entries = await entriesOf(stage);
    expect(
      entries.map(({ step, code, occurrences, runs, rescues }) => [step, code, occurrences, runs, rescues]),
    ).toEqual([
      ["train_{i}", "EXIT_7", 3, 1, { retry: { rescued: 1, tried: 0 } }],
      ["train_{i}", "EXIT_2", 2, 1, {}],
      ["alone", "EXIT_7", 1, 1, {}],
    ]);
  });

  it("is nothing where a cancel ended the attempt, whatever exit code it took that with", {
    tags: ["B1"],
  }, async () => {
    const slow = { output: null, takesMs: 1_000, endsWith: 7 } as const;
    const stage = await Stage.begin(file(`  call: ${RETRIED}`), { call: [slow] });
    await stage.operate({ type: "run.cancel" });
    const { run, events } = await stage.rest();
    expect([run.status, events("ladder.climbed").map(({ rung }) => rung)]).toEqual(["canceled", ["stop"]]);
    expect(await told(stage)).toEqual([]);
  });

  it("credits nothing where the job fails for good", { tags: ["B2"] }, async () => {
    const stage = await Stage.begin(file(`  call: ${RETRIED}`), { call: [refused] });
    await stage.rest();
    expect(await told(stage)).toEqual([
      ...["call EXIT_7 retry first", "call EXIT_7 retry", "call EXIT_7 fail"],
      "call EXIT_7 not rescued, tried retry fail",
    ]);
  });

  it("credits a transition whose target completes, once the run knows", { tags: ["B2"] }, async () => {
    const text = `${file("  call: { type: noop }\n  fallback: { type: noop }")}transitions:
  - { from: call, to: fallback, on: failure }
`;
    const stage = await Stage.begin(text, { call: [refused] });
    const { run } = await stage.rest();
    expect(run.status).toBe("completed");
    expect(await told(stage)).toEqual(["call EXIT_7 edge first", "call EXIT_7 rescued by edge"]);
  });

  it("credits somebody's decision instead of the hold that asked for it", { tags: ["B2"] }, async () => {
    const text = file("  call: { type: noop }\n  more: { type: noop }", "unhandled: hold");
    const stage = await Stage.begin(text, { call: [refused, "ok"], more: [missing] });
    await stage.rest();
    expect(await told(stage)).toEqual(["call EXIT_7 hold first", "more EXIT_2 hold first"]);
    await stage.operate({
      type: "holds.resolve",
      items: [{ job: await stage.id("call"), action: "retry", output: null, items: null }],
    });
    await stage.operate({
      type: "holds.resolve",
      items: [{ job: await stage.id("more"), action: "skip", output: null, items: null }],
    });
    await stage.resume();
    await stage.rest();
    expect((await told(stage)).slice(2).sort()).toEqual([
      "call EXIT_7 rescued by operator.retry",
      "more EXIT_2 rescued by operator.skip",
    ]);
  });

  it("counts no skip and no completion by hand as a rescue, and remembers who it was", {
    tags: ["B2"],
  }, async () => {
    const text = file(`  call: ${RETRIED}\n  more: { type: noop }`, "unhandled: hold");
    const stage = await Stage.begin(text, { call: [refused, refused, refused, refused], more: [missing] });
    await stage.rest();
    const decide = async (step: string, action: "skip" | "complete", by: string) =>
      stage.operate({
        ...{ type: "holds.resolve", by },
        items: [{ job: await stage.id(step), action, output: null, items: null }],
      });
    await decide("call", "complete", "ada");
    await decide("more", "skip", "bob");
    await stage.resume();
    const { run } = await stage.rest();
    expect(run.status).toBe("completed");
    const entries = [...sumRows(new Map(), await rowsOf(stage)).values()];
    expect(entries.map(({ step, rescues }) => [step, rescues])).toEqual([
      ["call", { retry: { rescued: 0, tried: 1 } }],
      ["more", {}],
    ]);
    const first = { step: "call", scope: "root", how: "complete", by: "ada", expired: false };
    expect(run.tally?.decided).toEqual({ jobs: 2, first });
  });

  it("credits an operator's retry of a job whose failure was counted when its run ended", {
    tags: ["B2"],
  }, async () => {
    const stage = await Stage.begin(file("  call: { type: noop }"), { call: [refused, "ok"] });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("call") });
    await stage.resume();
    const { run } = await stage.rest();
    expect(run.status).toBe("completed");
    expect(await told(stage)).toEqual([
      ...["call EXIT_7 fail first", "call EXIT_7 not rescued, tried fail"],
      "call EXIT_7 rescued by operator.retry",
    ]);
  });

  it("counts a lost worker as met, and not as the step's flakiness", { tags: ["B1", "B4"] }, async () => {
    const stage = await Stage.begin(file("  call: { type: noop }"), { call: [lost, "ok"] });
    await stage.rest();
    const rows = await rowsOf(stage);
    expect(rows.map(({ action, flake_ms }) => [action, flake_ms])).toEqual([
      ["restart", null],
      ["restart", null],
    ]);
  });

  it("marks a job that passed by retries alone, with the time from its first start to the one that passed", {
    tags: ["B4"],
  }, async () => {
    const step = "{ type: noop, on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 5000 } } } }";
    const stage = await Stage.begin(file(`  call: ${step}`), {
      call: [{ ...refused, takesMs: 1_000 }, { ...refused, takesMs: 1_000 }, "ok"],
    });
    await stage.rest();
    expect((await rowsOf(stage)).map(({ flake_ms }) => flake_ms)).toEqual([null, null, 12_000]);
  });

  it("is what the log tells when it is read again, at whichever turn its engine was killed", {
    tags: ["B3"],
  }, async () => {
    const slow = { ...refused, takesMs: 1_000 };
    const text = file(`  call: ${RETRIED}\n  more: ${RETRIED}`, "unhandled: hold");
    for (let turns = 0; turns < 6; turns += 1) {
      const stage = await Stage.begin(text, { call: [slow, lost, slow, "ok"], more: [missing, slow] });
      for (let turn = 0; turn < turns && (await stage.view()).run.status === "running"; turn += 1)
        await stage.turn();
      stage.kill();
      await (await stage.resume()).rest();
      const rows = await rowsOf(stage);
      expect(rows.length).toBeGreaterThan(4);
      expect(rows).toEqual(await rowsOfLog(stage.store, stage.runId));
    }
  });
});

describe("triage", () => {
  const entry = async (): Promise<BookEntry> => {
    const stage = await Stage.begin(file("  call: { type: noop }"), { call: [refused] });
    await stage.rest();
    return (await entriesOf(stage))[0]!;
  };

  it("is new at first, muted until its time is over, and known after that", { tags: ["B5"] }, async () => {
    const fresh = await entry();
    expect(triageState(fresh, 0)).toBe("new");
    const muted = { ...fresh, triage: "muted", muted_until: 100 } as const;
    expect([triageState(muted, 99), triageState(muted, 100)]).toEqual(["muted", "known"]);
  });

  it("is regressed only once a run has met it that was begun after it was resolved", {
    tags: ["B5"],
  }, async () => {
    const text = file("  call: { type: noop }");
    const stage = await Stage.begin(text, { call: [{ ...refused, takesMs: 10_000 }] });
    const resolvedAt = stage.clock.now() + 1;
    await stage.rest();
    const [met] = await entriesOf(stage);
    const resolved = { ...met!, triage: "resolved", triaged_at: resolvedAt } as const;
    // Met after it was resolved, but by a run that was under way before.
    expect(met!.last_seen).toBeGreaterThan(resolvedAt);
    expect(triageState(resolved, stage.clock.now())).toBe("resolved");
    await stage.operate({ type: "step.retry", job: await stage.id("call") });
    await stage.resume();
    await stage.rest();
    const [again] = await entriesOf(stage);
    expect(triageState({ ...again!, triage: "resolved", triaged_at: resolvedAt }, stage.clock.now())).toBe(
      "regressed",
    );
  });
});
