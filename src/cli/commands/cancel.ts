import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { RunRow } from "../../core/rows.js";
import { Daruma } from "../../operations/daruma.js";
import { existingDatabase } from "../../operations/existing-store.js";
import { redacted } from "../../operations/operator-words.js";
import type { Store } from "../../store/store.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { commandLine } from "../command-words.js";
import { type RunReference, resolveRun } from "../run-reference.js";

/** Processes get time to end; after that the answer is that the run is still ending. */
const END_TIMEOUT_MS = 10_000;
const POLL_MS = 50;

export interface CancelFlags {
  readonly reason: string;
  readonly key?: string;
}

export async function cancel(reference: RunReference, flags: CancelFlags, session: Session): Promise<number> {
  const { out, options } = session;
  existingDatabase(options.outputDir);
  const daruma = await Daruma.open({ outputDir: options.outputDir });
  try {
    const runId = await resolveRun(daruma.store, reference);
    const reason = await redacted(daruma.store, runId, flags.reason);
    await daruma.operate(runId, { type: "run.cancel", reason, key: flags.key ?? randomUUID() });
    const run = await waitForEnd(daruma.store, runId);
    if (options.json) writeJson(out, { run_id: runId, status: run.status, reason });
    else if (!options.quiet) writeLines(out, [sentence(run, session)]);
    return 0;
  } finally {
    await daruma.close();
  }
}

async function waitForEnd(store: Store, runId: number): Promise<RunRow> {
  for (const deadline = Date.now() + END_TIMEOUT_MS; ; await delay(POLL_MS)) {
    const run = (await store.readRun(runId))!;
    if (run.finished_at !== null || Date.now() > deadline) return run;
  }
}

function sentence(run: RunRow, { options }: Session): string {
  if (run.status === "canceled") return `run ${run.id} is canceled`;
  if (run.finished_at !== null) return `run ${run.id} was over before the cancel reached it: ${run.status}`;
  return `run ${run.id} is being canceled; its processes have not ended yet: ${commandLine(options, `show ${run.id}`)}`;
}
