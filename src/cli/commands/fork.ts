import { Daruma } from "../../operations/daruma.js";
import { existingDatabase } from "../../operations/existing-store.js";
import { forkSource } from "../../operations/fork-source.js";
import { redacted } from "../../operations/operator-words.js";
import type { Session } from "../channel.js";
import { followRun } from "../follow-run.js";
import { DEFAULT_REASON } from "../operate.js";
import { type RunReference, resolveRun } from "../run-reference.js";
import { readInputs } from "../run-variables.js";

export interface ForkFlags {
  readonly from: string;
  readonly input?: readonly string[];
  readonly file?: string;
  readonly reason?: string;
  readonly maxParallel?: number;
}

/** A new run that reuses what another had completed before a step, and goes on from there. */
export async function fork(reference: RunReference, flags: ForkFlags, session: Session): Promise<number> {
  const inputs = readInputs(flags.input ?? []);
  existingDatabase(session.options.outputDir);
  const daruma = await Daruma.open({
    outputDir: session.options.outputDir,
    ...(flags.maxParallel === undefined ? {} : { maxParallel: flags.maxParallel }),
  });
  return followRun(session, daruma, async () => {
    const runId = await resolveRun(daruma.store, reference);
    const { workflow, options } = await forkSource(daruma.store, {
      runId,
      step: flags.from,
      ...(flags.file === undefined ? {} : { file: flags.file }),
      inputs,
      reason: await redacted(daruma.store, runId, flags.reason ?? DEFAULT_REASON),
    });
    return daruma.start(workflow, options);
  });
}
