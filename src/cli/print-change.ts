import type { GoesBack } from "../core/decide/going-back.js";
import type { JobChange } from "../core/decide/take-command.js";
import type { Client } from "../operations/client.js";
import { listNames, nameOf } from "../tell/lookup/job-name.js";
import { goesOnWith } from "../tell/lookup/run-program.js";
import { strictReason } from "../tell/words/handled-text.js";
import { commandLine } from "./declare/command-words.js";
import type { GoOnFlags } from "./go-on-here.js";
import { type TopRun, topRunOf } from "./remote/who-goes-on.js";
import { type Session, writeJson, writeLines } from "./terminal/channel.js";
import { exitCodeOfRun } from "./terminal/exit-codes.js";
import { refuseReports, writeReports } from "./write-reports.js";

const MAX_CHANGES_TOLD = 20;
const INDENT = "  ";

interface GoingOn extends Pick<TopRun, "managed" | "program"> {
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
  readonly goes_back?: GoesBack | null;
}

/** Prints what changed. Refusals were thrown before. */
export async function printChange(
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
export function printLifted(
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
    const exitCode = await printChange(session, client, change, sentence);
    return reportAsItIs(session, client, change, { ...flags, runId: top?.runId ?? change.run_id, exitCode });
  }
  if (!options.json && !options.quiet) writeLines(out, [sentence, ...changedLines(change)]);
  const { goOnHere } = await import("./go-on-here.js");
  return goOnHere(session, client, top.runId, flags);
}

/** The reports of a run that the command has ended or left held; with `--strict` its end counts as any other does. */
async function reportAsItIs(
  session: Session,
  client: Client,
  { status, dry_run }: Change,
  {
    runId,
    report: reports,
    strict,
    exitCode: recorded,
  }: GoOnFlags & { readonly runId: number; readonly exitCode: number },
): Promise<number> {
  if (GOES_ON.has(status)) return refuseReports(session, { runId, reports, exitCode: recorded });
  const isEnd = strict === true && dry_run !== true && status === "completed";
  const exitCode = isEnd ? await strictEnd(session, client, runId) : recorded;
  return writeReports(session, client, { runId, reports, exitCode, strict });
}

/** Another process has ended the run by the time its answer is here. */
async function strictEnd({ out, options }: Session, client: Client, run_id: number): Promise<number> {
  const run = await client.call("get_run", { run_id, jobs: "none" });
  const why = strictReason(run);
  if (why !== null && !options.json && !options.quiet)
    writeLines(out, [`strict: the exit code is 1, because ${why}`]);
  return exitCodeOfRun({ ...run, strict: true });
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

function jsonOf(change: Change): object {
  const { run_id, action, status, changed, goes_back = null, reason, key, owner, dry_run = false } = change;
  const back = goes_back === null ? {} : { goes_back };
  return { run_id, action, dry_run, status, changed, ...back, reason, key, owner_pid: owner?.pid ?? null };
}

function changeLines(change: Change, sentence: string, place: GoingOn): string[] {
  const told = changedLines(change);
  if (change.dry_run === true) {
    const run = `${INDENT}run ${change.run_id}: ${change.before} -> ${change.status}`;
    const what = change.goes_back == null ? told : goesBackLines(change.goes_back);
    return ["dry run; nothing changed. It would do this:", ...what, run];
  }
  return [sentence, ...told, ...goingOn(change, place)];
}

function changedLines({ changed }: Change): string[] {
  return [...atMost(changed.map((each) => INDENT + changeText(each)))];
}

/** The whole of a way back: most of it happens only once the workspace is as it has to be. */
function goesBackLines({ again, taken_back, set_aside, stays }: GoesBack): string[] {
  const filesOf = (all: GoesBack["stays"]): string =>
    listNames([...filesByJob(all)], ([job, files]) => `${job} (${listNames([...files], (file) => file)})`);
  return [
    "begins again:",
    ...atMost(again.map(({ step, scope, status }) => `${INDENT}${nameOf(step, scope)} (${status})`)),
    ...(taken_back.length === 0
      ? []
      : [`taken out of the workspace, kept as a patch: ${filesOf(taken_back)}`]),
    ...(set_aside === null
      ? []
      : [
          `set aside as a patch: what attempt ${set_aside.attempt} of ${nameOf(set_aside.step, set_aside.scope)} left`,
        ]),
    ...(stays.length === 0 ? [] : [`stays in the workspace: ${filesOf(stays)}`]),
  ].map((line) => INDENT + line);
}

/** All attempts of a job together. */
function filesByJob(changes: GoesBack["stays"]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { step, scope, files } of changes) {
    const job = nameOf(step, scope);
    found.set(job, new Set([...(found.get(job) ?? []), ...files]));
  }
  return found;
}

function atMost(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_CHANGES_TOLD;
  return more > 0 ? [...lines.slice(0, MAX_CHANGES_TOLD), `${INDENT}… and ${more} more`] : lines;
}

export function changeText({ step, scope, from, to }: JobChange): string {
  const before = from === null ? "" : `${from} -> `;
  return `${nameOf(step, scope)}: ${before}${to}`;
}

/** Says who continues a run that can go on. */
export function goingOn(
  { run_id, status, before, owner }: Pick<Change, "run_id" | "status" | "before" | "owner">,
  { options, managed, program }: GoingOn,
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
