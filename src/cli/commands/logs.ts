import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { type AttemptLogs, findLogs } from "../../operations/read-logs.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { type RunReference, resolveRun } from "../run-reference.js";
import { withStore } from "../with-store.js";

export interface LogsFlags {
  readonly attempt?: number;
  readonly stderr?: boolean;
  readonly scope?: string;
}

/** More than this is not put into one JSON object; the path is there to read the rest. */
const MAX_JSON_LOG_BYTES = 8 * 1_024 * 1_024;

export function logs(
  reference: RunReference,
  step: string,
  flags: LogsFlags,
  session: Session,
): Promise<number> {
  return withStore(session, async (store, outputDir) => {
    const found = await findLogs(store, outputDir, {
      runId: await resolveRun(store, reference),
      step,
      ...(flags.attempt === undefined ? {} : { attempt: flags.attempt }),
      ...(flags.scope === undefined ? {} : { scope: flags.scope }),
    });
    if (session.options.json) writeJson(session.out, jsonOf(found));
    else await print(found, flags.stderr === true, session);
    return 0;
  });
}

/** As it was printed, escape codes included: it is the user's own output. Headings go to stderr, out of the way of pipes. */
async function print({ stdout, stderr }: AttemptLogs, onlyStderr: boolean, session: Session): Promise<void> {
  const files = (onlyStderr ? [stderr] : [stdout, stderr]).filter((file) => sizeOf(file) > 0);
  for (const file of files) {
    if (files.length > 1 && session.err.isTerminal)
      writeLines(session.err, [session.err.paint("dim", `-- ${file === stdout ? "stdout" : "stderr"} --`)]);
    await copy(file);
  }
  if (files.length === 0 && !session.options.quiet) writeLines(session.err, ["nothing was printed"]);
}

function copy(file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    createReadStream(file).on("error", reject).on("end", resolve).pipe(process.stdout, { end: false });
  });
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function jsonOf(found: AttemptLogs): object {
  const { step, scope, attempt, status } = found;
  return {
    step,
    scope,
    attempt,
    status,
    stdout: textOf(found.stdout),
    stderr: textOf(found.stderr),
    stdout_file: found.stdout,
    stderr_file: found.stderr,
  };
}

/** Null: too large for one object. */
function textOf(file: string): string | null {
  if (!existsSync(file)) return "";
  return sizeOf(file) > MAX_JSON_LOG_BYTES ? null : readFileSync(file, "utf8");
}
