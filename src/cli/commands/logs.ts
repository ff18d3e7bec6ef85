import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { DarumaError } from "../../core/errors.js";
import {
  type AttemptArtifact,
  type AttemptLogs,
  findArtifact,
  findLogs,
  findRecoveryLogs,
  type LogRequest,
} from "../../operations/read-logs.js";
import type { Store } from "../../store/store.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { type RunReference, resolveRun } from "../run-reference.js";
import { withStore } from "../with-store.js";

export interface LogsFlags {
  readonly attempt?: number;
  readonly stderr?: boolean;
  readonly scope?: string;
  readonly recovery?: boolean;
  readonly context?: boolean;
  readonly summary?: boolean;
}

/** More than this is not put into one JSON object; the path is there to read the rest. */
const MAX_JSON_LOG_BYTES = 8 * 1_024 * 1_024;

export async function logs(
  reference: RunReference,
  step: string,
  flags: LogsFlags,
  session: Session,
): Promise<number> {
  const kinds = (["recovery", "context", "summary"] as const).filter((kind) => flags[kind] === true);
  if (kinds.length > 1) throw new DarumaError("USAGE", `--${kinds.join(" and --")} cannot be shown at once`);
  const kind = kinds[0] ?? "attempt";
  return withStore(session, async (store, outputDir) => {
    const request: LogRequest = {
      runId: await resolveRun(store, reference),
      step,
      ...(flags.attempt === undefined ? {} : { attempt: flags.attempt }),
      ...(flags.scope === undefined ? {} : { scope: flags.scope }),
    };
    if (kind === "context" || kind === "summary")
      showArtifact(await findArtifact(store, outputDir, { ...request, kind }), session);
    else await showLogs(await find(kind, store, outputDir, request), flags, session);
    return 0;
  });
}

function find(
  kind: "attempt" | "recovery",
  store: Store,
  outputDir: string,
  request: LogRequest,
): Promise<AttemptLogs> {
  return kind === "recovery"
    ? findRecoveryLogs(store, outputDir, request)
    : findLogs(store, outputDir, request);
}

async function showLogs(found: AttemptLogs, flags: LogsFlags, session: Session): Promise<void> {
  if (session.options.json) writeJson(session.out, jsonOf(found));
  else await print(found, flags.stderr === true, session);
}

function showArtifact(found: AttemptArtifact, session: Session): void {
  if (!session.options.json) {
    const text = readFileSync(found.file, "utf8");
    return session.out.write(text.endsWith("\n") ? text : `${text}\n`);
  }
  const { step, scope, attempt, file, manifest } = found;
  const kept = manifest === null ? null : (JSON.parse(readFileSync(manifest, "utf8")) as unknown);
  writeJson(session.out, { step, scope, attempt, text: textOf(file), file, manifest: kept });
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
