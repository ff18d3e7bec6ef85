import { Daruma } from "../../operations/daruma.js";
import { existingDatabase } from "../../operations/existing-store.js";
import type { Session } from "../channel.js";
import { followRun } from "../follow-run.js";
import { type RunReference, resolveRun } from "../run-reference.js";

export interface ResumeFlags {
  readonly maxParallel?: number;
}

/** Go on with a run whose process is gone. A run that is over tells its result again. */
export async function resume(reference: RunReference, flags: ResumeFlags, session: Session): Promise<number> {
  existingDatabase(session.options.outputDir);
  const daruma = await Daruma.open({
    outputDir: session.options.outputDir,
    ...(flags.maxParallel === undefined ? {} : { maxParallel: flags.maxParallel }),
  });
  return followRun(session, daruma, async () => daruma.resume(await resolveRun(daruma.store, reference)));
}
