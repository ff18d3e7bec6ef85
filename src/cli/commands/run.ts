import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { databaseFile, openExistingStore } from "../../operations/existing-store.js";
import type { Store } from "../../store/store.js";
import { type Session, writeLines } from "../channel.js";
import { readContext, readInputs } from "../run-variables.js";

export interface RunFlags {
  readonly maxParallel?: number;
  readonly input?: readonly string[];
  readonly context?: string;
  readonly onFailMaxLoops?: number;
  readonly retryMax?: number;
  readonly failureRouting: boolean;
  readonly only?: string;
}

export async function run(file: string, flags: RunFlags, session: Session): Promise<number> {
  const inputs = readInputs(flags.input ?? []);
  const context = flags.context === undefined ? {} : readContext(flags.context);
  const { outputDir } = session.options;
  const early = openEarly(outputDir);
  const { readWorkflow } = await import("../../operations/workflow-source.js");
  // Before anything is made: a broken file leaves no trace.
  const workflow = readWorkflow(file);
  if (workflow.warnings.length > 0 && !session.options.quiet) {
    const { problemLines } = await import("../report-error.js");
    writeLines(session.err, problemLines(workflow.warnings, "warning", session.err.paint));
  }
  const { Daruma } = await import("../../operations/daruma.js");
  const { followRun } = await import("../follow-run.js");
  const store = await early;
  const daruma = await Daruma.open({
    outputDir,
    ...(store === null ? {} : { store }),
    ...(flags.maxParallel === undefined ? {} : { maxParallel: flags.maxParallel }),
  });
  return followRun(session, daruma, () =>
    daruma.start(workflow, {
      inputs,
      context,
      failureRouting: flags.failureRouting,
      ...(flags.onFailMaxLoops === undefined ? {} : { maxLoops: flags.onFailMaxLoops }),
      ...(flags.retryMax === undefined ? {} : { retryMax: flags.retryMax }),
      ...(flags.only === undefined ? {} : { only: flags.only }),
    }),
  );
}

/**
 * The database's thread takes about 50 ms to start, and loading the rest of the program as long: both at once where the
 * database is there already.
 */
function openEarly(outputDir: string): Promise<Store | null> {
  const isThere = existsSync(databaseFile(resolve(outputDir)));
  const opening = isThere ? openExistingStore(outputDir) : Promise.resolve(null);
  // A workflow file that is refused meanwhile is the error to tell.
  opening.catch(() => {});
  return opening;
}
