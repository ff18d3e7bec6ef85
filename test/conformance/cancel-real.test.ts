import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { RealRuns } from "../support/real-run.js";
import { trace } from "../support/trace.js";

const real = new RealRuns();

/** Says in a file that it is at work, and goes on until it is ended. */
const waiting = (ready: string) => `echo > ${ready}; while :; do sleep 0.01; done`;

/** `bad` does this on SIGTERM. */
const flow = (onTerm: string, ready: string) => `steps:
  bad:
    exec: ${JSON.stringify(`${onTerm}; ${waiting(ready)}`)}
    on_fail: { retry: { max: 3 } }
  fix: { exec: "true" }
transitions: [{ from: bad, to: fix, on: failure }]`;

function cancelWhileRunning(onTerm: string) {
  return cancelOnce((ready) => flow(onTerm, ready));
}

async function cancelOnce(text: (ready: string) => string) {
  const daruma = await real.start();
  const ready = `${daruma.outputDir}.ready`;
  const { runId, result } = await daruma.start(real.write("flow.yaml", text(ready)));
  await real.fileAppears(ready);
  await daruma.cancel(runId, "enough");
  const report = await result;
  const { store } = daruma;
  const [log, jobs] = await Promise.all([store.readEvents(runId), store.readJobs(runId)]);
  return { report, trace: trace({ log, jobs }), log };
}

describe("a cancel and real processes", () => {
  it("a step whose clean-up fails is recorded with the stop rung and skipped_terminal", {
    tags: ["A16", "A23", "A30"],
  }, async () => {
    const run = await cancelWhileRunning(`trap 'echo "cannot roll back" >&2; exit 7' TERM`);
    expect(run.trace).toEqual([
      "start bad",
      "abandoned root canceled",
      "fail bad EXIT_7",
      "climb bad stop",
      "canceled bad RUN_CANCELED",
      "run canceled",
    ]);
    const climbed = run.log.flatMap(({ event }) => (event.type === "ladder.climbed" ? [event] : []));
    expect(climbed).toMatchObject([
      { rung: "stop", failure_route: { attempted: false, status: "skipped_terminal", considered: [] } },
    ]);
    expect(run.report.status).toBe("canceled");
    expect(run.report.routes).toEqual([]);
  });

  it.each([
    ["dies of the signal", ":"],
    ["exits with 0", "trap 'exit 0' TERM"],
    ["exits as a program that the signal has ended", "trap 'exit 143' TERM"],
  ])(
    "a step that %s has not failed: it is stopped, and climbs nothing",
    { tags: ["A23"] },
    async (_, onTerm) => {
      const run = await cancelWhileRunning(onTerm);
      expect(run.trace).toEqual([
        "start bad",
        "abandoned root canceled",
        "stopped bad canceled",
        "run canceled",
      ]);
    },
  );

  it("a failure whose handler a cancel ends is not handled, and what depends on it is canceled", {
    tags: ["A10", "A11", "A23"],
  }, async () => {
    const run = await cancelOnce(
      (ready) => `steps:
  bad: { exec: "exit 3" }
  after: { exec: "true", depends_on: bad }
  fix: { exec: ${JSON.stringify(waiting(ready))} }
transitions: [{ from: bad, to: fix, on: failure }]`,
    );
    expect(run.trace).toEqual([
      "start bad",
      "fail bad EXIT_3",
      "climb bad edge",
      "failed bad EXIT_3",
      "edge 1 bad -> fix on failure",
      "start fix",
      "abandoned root canceled",
      "stopped fix canceled",
      "run canceled",
    ]);
    expect(run.report.handled_failures).toEqual([]);
    expect(run.report.jobs).toMatchObject([
      { step: "bad", status: "failed", handled: false },
      { step: "after", status: "canceled" },
      { step: "fix", status: "canceled" },
    ]);
  });

  it("an engine that stops takes no failure from what it ends: the step begins anew with the next", {
    tags: ["A23"],
  }, async () => {
    const daruma = await real.start();
    const { outputDir } = daruma;
    const ready = `${outputDir}.ready`;
    const go = `${outputDir}.go`;
    const onTerm = `trap 'exit 7' TERM; [ -e ${go} ] && exit 0`;
    const { runId, result } = await daruma.start(real.write("flow.yaml", flow(onTerm, ready)));
    result.catch(() => {});
    await real.fileAppears(ready);
    await daruma.close();
    writeFileSync(go, "");
    const next = await real.start({ outputDir });
    const report = await (await next.resume(runId)).result;
    expect(report).toMatchObject({ status: "completed", jobs: [{ attempts: 2, error: null }, {}] });
    const log = await next.store.readEvents(runId);
    expect(log.filter(({ event }) => event.type === "attempt.failed")).toEqual([]);
  });
});
