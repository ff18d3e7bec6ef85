import type { JobChange } from "../core/decide/take-command.js";
import type { Client } from "../operations/client.js";
import { nameOf } from "../report/lookup/job-name.js";
import { commandLine } from "./declare/command-words.js";
import { isServersRun } from "./remote/who-goes-on.js";
import { type Session, writeJson, writeLines } from "./terminal/channel.js";

const MAX_CHANGES_TOLD = 20;
const INDENT = "  ";

interface Place {
  readonly options: Session["options"];
  /** A server goes on with the run by itself. */
  readonly isServers: boolean;
}

/** What an operator's command did, or would do. */
export interface Change {
  readonly run_id: number;
  /** The word for it in `--json`. */
  readonly action: string;
  readonly before: string;
  readonly status: string;
  readonly changed: readonly JobChange[];
  readonly reason: string;
  readonly key: string;
  readonly owner: { readonly host: string; readonly pid: number } | null;
  readonly dry_run?: boolean;
}

/** Tell what changed. Refusals were thrown before. */
export async function tellChange(
  session: Session,
  client: Client,
  change: Change,
  /** What has happened, in the present: `run 3 is paused`. */
  sentence: string,
): Promise<number> {
  const { out, options } = session;
  if (options.json) writeJson(out, jsonOf(change));
  else if (!options.quiet) {
    const isServers = await isServersRun(client, options, change.run_id);
    writeLines(out, changeLines(change, sentence, { options, isServers }));
  }
  return 0;
}

function jsonOf({ run_id, action, status, changed, reason, key, owner, dry_run = false }: Change): object {
  return { run_id, action, dry_run, status, changed, reason, key, owner_pid: owner?.pid ?? null };
}

function changeLines(change: Change, sentence: string, place: Place): string[] {
  const { changed } = change;
  const told = changed.slice(0, MAX_CHANGES_TOLD).map((each) => INDENT + changeText(each));
  const more = changed.length - told.length;
  if (more > 0) told.push(`${INDENT}… and ${more} more`);
  if (change.dry_run === true) {
    const run = `${INDENT}run ${change.run_id}: ${change.before} -> ${change.status}`;
    return ["dry run; nothing changed. It would do this:", ...told, run];
  }
  return [sentence, ...told, ...goingOn(change, place)];
}

export function changeText({ step, scope, from, to }: JobChange): string {
  const before = from === null ? "" : `${from} -> `;
  return `${nameOf(step, scope)}: ${before}${to}`;
}

/** Who goes on with a run that can go on. */
export function goingOn(
  { run_id, status, before, owner }: Pick<Change, "run_id" | "status" | "before" | "owner">,
  { options, isServers }: Place,
): string[] {
  if (status === "running" && isServers) return ["the server continues it"];
  if (status === "running" && owner !== null)
    return [
      options.server === undefined
        ? `process ${owner.pid} continues it`
        : "the process that runs it continues it",
    ];
  if (status === "running" || status === "paused")
    return [`next: ${commandLine(options, `resume ${run_id}`)}`];
  if (status === "held") return [`next: ${commandLine(options, `holds ${run_id}`)}`];
  return status === before ? [] : [`run ${run_id} is ${status}`];
}
