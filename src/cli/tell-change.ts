import { randomUUID } from "node:crypto";
import type { OperatorCommand } from "../core/commands.js";
import { nameOf } from "../operations/job-name.js";
import { redacted } from "../operations/operator-words.js";
import { type CommandAnswer, type JobChange, putCommand, tryCommand } from "../operations/put-command.js";
import type { Store } from "../store/store.js";
import { type Session, writeJson, writeLines } from "./channel.js";
import { commandLine } from "./command-words.js";
import { type RunReference, resolveRun } from "./run-reference.js";
import { withStore } from "./with-store.js";

/** Flags that every operator's command has. */
export interface OperatorFlags {
  readonly reason?: string;
  /** The same key is taken once, however often the command is given. */
  readonly key?: string;
}

export const DEFAULT_REASON = "by hand";
const MAX_CHANGES_TOLD = 20;
const INDENT = "  ";

export interface Operation {
  /** The word for it in `--json`. */
  readonly action: string;
  readonly command: OperatorCommand;
  /** What has happened, in the present: `run 3 is paused`. */
  readonly sentence: (answer: CommandAnswer) => string;
  readonly dryRun?: boolean;
}

export type PlanOperation = (target: {
  readonly store: Store;
  readonly outputDir: string;
  readonly runId: number;
  readonly key: string;
  readonly reason: string;
}) => Promise<Operation>;

/** Put one operator's command to a run and tell what changed. Refusals are thrown with their code: exit 2. */
export function operate(
  session: Session,
  reference: RunReference,
  flags: OperatorFlags,
  plan: PlanOperation,
): Promise<number> {
  return withStore(session, async (store, outputDir) => {
    const runId = await resolveRun(store, reference);
    const key = flags.key ?? randomUUID();
    const reason = await redacted(store, runId, flags.reason ?? DEFAULT_REASON);
    const operation = await plan({ store, outputDir, runId, key, reason });
    const { command, dryRun } = operation;
    const answer =
      dryRun === true ? await tryCommand(store, runId, command) : await putCommand(store, runId, command);
    if (session.options.json) writeJson(session.out, jsonOf(operation, answer, { key, reason }));
    else if (!session.options.quiet)
      writeLines(session.out, answerLines(operation, answer, session, flags.key !== undefined));
    return 0;
  });
}

function jsonOf(
  { action, dryRun }: Operation,
  { runId, status, changed, owner }: CommandAnswer,
  { key, reason }: { key: string; reason: string },
): object {
  const ownerPid = owner?.pid ?? null;
  return {
    run_id: runId,
    action,
    dry_run: dryRun === true,
    status,
    changed,
    reason,
    key,
    owner_pid: ownerPid,
  };
}

function answerLines(
  operation: Operation,
  answer: CommandAnswer,
  session: Session,
  isKeyGiven: boolean,
): string[] {
  const { changed } = answer;
  const told = changed.slice(0, MAX_CHANGES_TOLD).map((change) => INDENT + changeText(change));
  const more = changed.length - told.length;
  if (more > 0) told.push(`${INDENT}… and ${more} more`);
  if (operation.dryRun === true) {
    const run = `${INDENT}run ${answer.runId}: ${answer.before} -> ${answer.status}`;
    return ["dry run, nothing is changed; it would do this:", ...told, run];
  }
  const isSame = changed.length === 0 && answer.before === answer.status;
  const lines =
    isKeyGiven && isSame ? ["nothing is changed: a command with this key was taken before"] : told;
  return [operation.sentence(answer), ...lines, ...goingOn(answer, session)];
}

function changeText({ step, scope, from, to }: JobChange): string {
  return `${nameOf(step, scope)}: ${from === null ? "" : `${from} -> `}${to}`;
}

/** Who goes on with a run that can go on. */
function goingOn({ runId, status, before, owner }: CommandAnswer, { options }: Session): string[] {
  if (status === "running" && owner !== null) return [`process ${owner.pid} goes on with it`];
  if (status === "running" || status === "paused")
    return [`next: ${commandLine(options, `resume ${runId}`)}`];
  if (status === "held") return [`next: ${commandLine(options, `holds ${runId}`)}`];
  return status === before ? [] : [`run ${runId} is ${status}`];
}
