import type { JobChange } from "../core/decide/take-command.js";
import type { Client } from "../operations/client.js";
import { nameOf } from "../tell/lookup/job-name.js";
import { goesOnWith } from "../tell/lookup/run-program.js";
import { commandLine } from "./declare/command-words.js";
import type { GoOnFlags } from "./go-on-here.js";
import { type TopRun, topRunOf } from "./remote/who-goes-on.js";
import { type Session, writeJson, writeLines } from "./terminal/channel.js";
import { refuseReports, writeReports } from "./write-reports.js";

const MAX_CHANGES_TOLD = 20;
const INDENT = "  ";

interface Place extends Pick<TopRun, "managed" | "program"> {
  readonly options: Session["options"];
}

/** What an operator's command did, or would do. */
export interface Change {
  readonly run_id: number;
  /** The action's name in `--json`. */
  readonly action: string;
  readonly before: string;
  readonly status: string;
  readonly changed: readonly JobChange[];
  readonly reason: string;
  readonly key: string;
  readonly owner: { readonly host: string; readonly pid: number } | null;
  readonly dry_run?: boolean;
}

/** Prints what changed. Refusals were thrown before. */
export async function tellChange(
  session: Session,
  client: Client,
  change: Change,
  /** What has happened, in the present tense: `run 3 is paused`. */
  sentence: string,
): Promise<number> {
  const { out, options } = session;
  if (options.json) writeJson(out, jsonOf(change));
  else if (!options.quiet) {
    const top = await topRunOf(client, change.run_id);
    writeLines(out, changeLines(change, sentence, { ...top, options }));
  }
  return 0;
}

/** Prints that a pause is lifted, and who continues the run. */
export function tellLifted(
  { out, options }: Session,
  change: Change,
  place: Pick<TopRun, "managed" | "program">,
): void {
  if (options.json) writeJson(out, jsonOf(change));
  else if (!options.quiet)
    writeLines(
      out,
      changeLines(change, `the pause of run ${change.run_id} is lifted`, { ...place, options }),
    );
}

/** Prints what changed, and continues the run here if nobody else does. The exit code is then the run's. */
export async function tellAndGoOn(
  session: Session,
  client: Client,
  change: Change,
  sentence: string,
  flags: GoOnFlags,
): Promise<number> {
  const { out, options } = session;
  const top = options.server === undefined ? await topRunOf(client, change.run_id) : null;
  if (top === null || !(await canGoOn(client, change, top, flags))) {
    const exitCode = await tellChange(session, client, change, sentence);
    return reportAsItIs(session, client, change, { ...flags, runId: top?.runId ?? change.run_id, exitCode });
  }
  if (!options.json && !options.quiet) writeLines(out, [sentence, ...toldOf(change)]);
  const { goOnHere } = await import("./go-on-here.js");
  return goOnHere(session, client, top.runId, flags);
}

/** The reports of a run that the command has ended or left held. */
function reportAsItIs(
  session: Session,
  client: Client,
  { status }: Change,
  {
    runId,
    report: reports,
    strict,
    exitCode,
  }: GoOnFlags & { readonly runId: number; readonly exitCode: number },
): Promise<number> | number {
  const finished = { runId, reports, exitCode, strict };
  return GOES_ON.has(status) ? refuseReports(session, finished) : writeReports(session, client, finished);
}

async function canGoOn(
  client: Client,
  { dry_run, owner, status }: Change,
  { managed, program, runId }: TopRun,
  { resume }: GoOnFlags,
): Promise<boolean> {
  if (resume === false || dry_run === true || managed || owner !== null || !GOES_ON.has(status)) return false;
  if (program !== null) return false;
  // A child run also depends on whether its top run can go on.
  return GOES_ON.has((await client.call("get_run", { run_id: runId, jobs: "none" })).status);
}

const GOES_ON: ReadonlySet<string> = new Set(["pending", "running"]);

function jsonOf({ run_id, action, status, changed, reason, key, owner, dry_run = false }: Change): object {
  return { run_id, action, dry_run, status, changed, reason, key, owner_pid: owner?.pid ?? null };
}

function changeLines(change: Change, sentence: string, place: Place): string[] {
  const told = toldOf(change);
  if (change.dry_run === true) {
    const run = `${INDENT}run ${change.run_id}: ${change.before} -> ${change.status}`;
    return ["dry run; nothing changed. It would do this:", ...told, run];
  }
  return [sentence, ...told, ...goingOn(change, place)];
}

function toldOf({ changed }: Change): string[] {
  const told = changed.slice(0, MAX_CHANGES_TOLD).map((each) => INDENT + changeText(each));
  const more = changed.length - told.length;
  return more > 0 ? [...told, `${INDENT}… and ${more} more`] : told;
}

export function changeText({ step, scope, from, to }: JobChange): string {
  const before = from === null ? "" : `${from} -> `;
  return `${nameOf(step, scope)}: ${before}${to}`;
}

/** Says who continues a run that can go on. */
export function goingOn(
  { run_id, status, before, owner }: Pick<Change, "run_id" | "status" | "before" | "owner">,
  { options, managed, program }: Place,
): string[] {
  if (status === "running" && managed && options.server !== undefined) return ["the server continues it"];
  if (status === "running" && owner !== null)
    return [
      options.server === undefined
        ? `process ${owner.pid} continues it`
        : "the process that runs it continues it",
    ];
  if (status === "running" && managed) return [`run ${run_id} is a server's: it waits until one is started`];
  if (status === "running" && program !== null) return [`run ${run_id} ${goesOnWith(program, run_id)}`];
  if (status === "running" || status === "paused")
    return [`next: ${commandLine(options, `resume ${run_id}`)}`];
  if (status === "held") return [`next: ${commandLine(options, `holds ${run_id}`)}`];
  return status === before ? [] : [`run ${run_id} is ${status}`];
}
