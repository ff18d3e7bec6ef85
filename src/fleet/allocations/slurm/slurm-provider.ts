import { idsWithKey, mergeAll, NOTHING, type Read, SILENCE } from "../answers.js";
import { answerLost, refuse } from "../check-spec.js";
import {
  type CommandAnswer,
  commandEnvironment,
  failureWords,
  mayHaveWorked,
  type ProviderOptions,
  type RunCommand,
  runCommand,
  SchedulerCommands,
} from "../command.js";
import type {
  AllocationProvider,
  AllocationStatus,
  Phase,
  Plan,
  ProbeResult,
  Refusal,
  RefusalCode,
  Submitted,
} from "../provider.js";
import {
  type AccountingRow,
  accountingCommand,
  mergeStatus,
  parseAccounting,
  parseQueue,
  QUEUE_COMMAND,
  type QueueRow,
  recentAccountingCommand,
} from "./job-status.js";
import { planSlurm } from "./plan.js";
import { classifySlurm, STATES } from "./states.js";
import { NODES_COMMAND, PARTITIONS_COMMAND, readTargets } from "./targets.js";

/** Messages of sbatch when it refuses a job. The first match counts. */
const REFUSALS: readonly (readonly [RegExp, RefusalCode])[] = [
  [
    /unable to contact|timed out|temporarily|try again|communication|not responding|job submit limit/i,
    "BUSY",
  ],
  [/invalid partition|required partition not available/i, "NO_TARGET"],
  [
    /memory specification|requested node configuration|node count|time limit|more processors|not satisf|too many/i,
    "TOO_BIG",
  ],
  [/denied|not permitted|not allowed|violates accounting|invalid account|authentication/i, "DENIED"],
  [/unrecognized option|invalid|unknown|bad |ambiguous|requires an argument/i, "BAD_OPTION"],
];

/** The request was sent but no answer came: sbatch gives up after MessageTimeout, while the controller goes on. */
const NO_ANSWER = /timed out|(send|receive|shutdown) failure|zero bytes|unexpected message/i;

function refusalOf(argv: readonly string[], answer: CommandAnswer): Refusal {
  const message = failureWords(argv, answer);
  if (mayHaveWorked(answer) || NO_ANSWER.test(answer.stderr)) return answerLost(message);
  if (answer.failure !== null) return refuse("BUSY", message, true);
  const [, code = "DENIED"] = REFUSALS.find(([pattern]) => pattern.test(answer.stderr)) ?? [];
  return refuse(code, message, code === "BUSY");
}

/**
 * How far back jobs are listed. Lost answers are looked up within the hour; the rest lets a server that was down for a
 * day find its jobs.
 */
const LIST_DAYS = 3;
const KEPT_VARIABLES: ReadonlySet<string> = new Set(["SLURM_CONF"]);

export function createSlurmProvider(options: ProviderOptions = {}): AllocationProvider {
  return new SlurmProvider(
    options.run ?? runCommand,
    commandEnvironment(options.env ?? process.env, KEPT_VARIABLES),
  );
}

class SlurmProvider implements AllocationProvider {
  readonly name = "slurm";
  readonly plan = planSlurm;
  readonly classify = classifySlurm;
  private readonly commands: SchedulerCommands;

  constructor(
    private readonly run: RunCommand,
    private readonly env: Record<string, string | undefined>,
  ) {
    this.commands = new SchedulerCommands(run, { ...env, SLURM_TIME_FORMAT: "%s" });
  }

  async probe(signal: AbortSignal): Promise<ProbeResult> {
    const [version, partitions, nodes, config] = await Promise.all(
      [["sinfo", "--version"], PARTITIONS_COMMAND, NODES_COMMAND, ["scontrol", "show", "config"]].map(
        (argv) => this.commands.must(argv, signal),
      ),
    );
    const setting = (name: string): string =>
      new RegExp(`^${name}\\s*= (.*)$`, "m").exec(config!)?.[1]?.trim() ?? "";
    return {
      version: version!.trim(),
      capabilities: {
        accounting: /slurmdbd|mysql/.test(setting("AccountingStorageType")),
        requeue: true,
        memoryEnforced: /cgroup/.test(setting("TaskPlugin")) ? "allocation" : "unknown",
      },
      targets: readTargets(partitions!, nodes!),
    };
  }

  async submit(plan: Plan, signal: AbortSignal): Promise<Submitted | Refusal> {
    const queue = await this.queue(signal);
    const accounting = await this.recent(signal);
    const there = [...queue.rows, ...accounting.rows].find(
      (row) => row.name === plan.spec.key && !wasRefused(row),
    );
    if (there !== undefined) return { id: there.id, found: true };
    if (!queue.whole) return refuse("BUSY", SILENT_QUEUE, true);
    const answer = await this.run(plan.argv, { signal, env: this.env, input: plan.script });
    // The answer is `12;cluster` on a site with several clusters.
    const id = /^(\d+)(?:;|$)/m.exec(answer.stdout)?.[1];
    if (answer.exitCode !== 0 || id === undefined) return refusalOf(plan.argv, answer);
    return { id, found: false };
  }

  async status(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<Map<string, readonly AllocationStatus[]>> {
    const queue = await this.queue(signal);
    const rows = new Map(queue.rows.map((row) => [row.id, row]));
    const unsure = ids.filter((id) => !isSettledByQueue(rows.get(id)));
    const accounting =
      unsure.length === 0 ? NOTHING : await this.accounting(accountingCommand(unsure), signal);
    return mergeAll(ids, queue, accounting, mergeStatus);
  }

  async list(keyPrefix: string, signal: AbortSignal): Promise<readonly AllocationStatus[]> {
    const queue = await this.queue(signal);
    if (!queue.whole) throw new Error(SILENT_QUEUE);
    const accounting = await this.recent(signal);
    const submitted = [...accounting.rows, ...queue.rows].filter((row) => !wasRefused(row));
    const ids = idsWithKey(keyPrefix, submitted);
    const merged = mergeAll(ids, queue, accounting, mergeStatus);
    return [...merged.values()].map((incarnations) => incarnations.at(-1)!);
  }

  async cancel(id: string, how: "drain" | "now", signal: AbortSignal): Promise<"asked" | "gone"> {
    let phase = await this.phaseOf(id, signal);
    if (phase === undefined || phase === "ended") return "gone";
    if (how === "drain" && phase === "pending") {
      await this.scancel(["--state=PENDING", id], signal);
      // One that started in between is still there.
      phase = await this.phaseOf(id, signal);
      if (phase !== "starting" && phase !== "running") return "asked";
    }
    await this.scancel(how === "now" ? [id] : ["--batch", "--signal=USR1", id], signal);
    return "asked";
  }

  private async phaseOf(id: string, signal: AbortSignal): Promise<Phase | undefined> {
    const queue = await this.queue(signal);
    if (!queue.whole) throw new Error(SILENT_QUEUE);
    return STATES[queue.rows.find((row) => row.id === id)?.state ?? ""]?.phase;
  }

  private scancel(words: readonly string[], signal: AbortSignal): Promise<void> {
    return this.commands.end(["scancel", ...words], signal, refusalOf);
  }

  private async queue(signal: AbortSignal): Promise<Read<QueueRow>> {
    const answer = await this.commands.ask(QUEUE_COMMAND, signal);
    return answer.exitCode === 0 ? parseQueue(answer.stdout) : SILENCE;
  }

  private recent(signal: AbortSignal): Promise<Read<AccountingRow>> {
    return this.accounting(recentAccountingCommand(LIST_DAYS), signal);
  }

  private async accounting(argv: readonly string[], signal: AbortSignal): Promise<Read<AccountingRow>> {
    const answer = await this.commands.ask(argv, signal);
    // The site has no accounting. That is a valid, empty answer.
    if (/accounting storage is disabled/i.test(answer.stdout + answer.stderr)) return NOTHING;
    return answer.exitCode === 0 ? parseAccounting(answer.stdout) : SILENCE;
  }
}

/** Slurm keeps a job that it refused at once under its name, as one that failed. It was never submitted. */
function wasRefused({ state, nodes }: Pick<AccountingRow, "state" | "nodes">): boolean {
  return state === "FAILED" && nodes.length === 0;
}

const SILENT_QUEUE = "squeue did not answer, or its answer could not be read";

/** Whether accounting could add nothing, because the job goes on in its first incarnation. */
function isSettledByQueue(row: QueueRow | undefined): boolean {
  return row !== undefined && row.restarts === 0 && STATES[row.state]?.phase !== "ended";
}
