import { writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { idsWithKey, mergeAll, NOTHING, type Read, SILENCE } from "../answers.js";
import { answerLost, refuse } from "../check-spec.js";
import {
  type CommandAnswer,
  commandEnvironment,
  failureWords,
  mayHaveWorked,
  type ProviderOptions,
  runCommand,
  SchedulerCommands,
} from "../command.js";
import {
  type AllocationProvider,
  type AllocationStatus,
  KEY_PREFIX,
  type Plan,
  type ProbeResult,
  type Refusal,
  type RefusalCode,
  type Submitted,
} from "../provider.js";
import {
  type AccountingRow,
  accountingCommand,
  mergeStatus,
  parseAccounting,
  parseOutputPath,
  parseQueue,
  type QueueRow,
  queueCommand,
  saysNothingIsThere,
} from "./job-status.js";
import { planGridEngine } from "./plan.js";
import { classifyGridEngine, meaningOfLetters, wasRestarted } from "./states.js";
import { HOSTS_COMMAND, QUEUES_COMMAND, readTargets } from "./targets.js";

/** Messages of qsub when it refuses a job. The first match counts. */
const REFUSALS: readonly (readonly [RegExp, RefusalCode])[] = [
  [/commlib error|unable to (contact|send message)|try (again )?later|too many|max.*jobs/i, "BUSY"],
  [/unknown queue/i, "NO_TARGET"],
  [/no suitable queues|exceeds|cannot run/i, "TOO_BIG"],
  [/denied|not allowed|no permission|not permitted|access/i, "DENIED"],
  [/invalid|unknown|does not exist|missing|expected/i, "BAD_OPTION"],
];

/** The request was sent but no answer came, so the master may still accept the job. */
const NO_ANSWER = /timeout|failed receiving gdi|got read error/i;

function refusalOf(argv: readonly string[], answer: CommandAnswer): Refusal {
  const message = failureWords(argv, answer);
  if (mayHaveWorked(answer) || NO_ANSWER.test(answer.stderr)) return answerLost(message);
  if (answer.failure !== null) return refuse("BUSY", message, true);
  const [, code = "DENIED"] = REFUSALS.find(([pattern]) => pattern.test(answer.stderr + answer.stdout)) ?? [];
  return refuse(code, message, code === "BUSY");
}

export function createGridEngineProvider(options: ProviderOptions = {}): AllocationProvider {
  const env = commandEnvironment(options.env ?? process.env, new Set());
  return new GridEngineProvider(new SchedulerCommands(options.run ?? runCommand, env));
}

class GridEngineProvider implements AllocationProvider {
  readonly name = "gridengine";
  readonly plan = planGridEngine;
  readonly classify = classifyGridEngine;

  constructor(private readonly commands: SchedulerCommands) {}

  async probe(signal: AbortSignal): Promise<ProbeResult> {
    const [version, hosts, queues] = await Promise.all(
      [["qstat", "-help"], HOSTS_COMMAND, QUEUES_COMMAND].map((argv) => this.commands.must(argv, signal)),
    );
    return {
      version: version!.split("\n")[0]!.trim(),
      // h_vmem limits the address space of each process. The sum is only sampled.
      capabilities: { accounting: true, requeue: true, memoryEnforced: "process" },
      targets: readTargets(hosts!, queues!),
    };
  }

  async submit(plan: Plan, signal: AbortSignal): Promise<Submitted | Refusal> {
    const { key } = plan.spec;
    const queue = await this.queue(signal);
    const accounting = await this.accounting(key, signal);
    const there = [...queue.rows, ...accounting.rows].find(({ name }) => name === key);
    if (there !== undefined) return { id: there.id, found: true };
    if (!queue.whole || !accounting.whole) return refuse("BUSY", SILENT_QUEUE, true);
    const answer = await this.commands.ask(plan.argv, signal, plan.script);
    const id = /^(\d+)\s*$/m.exec(answer.stdout)?.[1];
    if (answer.exitCode !== 0 || id === undefined) return refusalOf(plan.argv, answer);
    return { id, found: false };
  }

  async status(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<Map<string, readonly AllocationStatus[]>> {
    const queue = await this.queue(signal);
    const rows = new Map(queue.rows.map((row) => [row.id, row]));
    const settled = ids.every((id) => isSettledByQueue(rows.get(id)));
    const accounting = settled ? NOTHING : await this.accounting(KEY_PREFIX, signal);
    return mergeAll(ids, queue, accounting, mergeStatus);
  }

  async list(keyPrefix: string, signal: AbortSignal): Promise<readonly AllocationStatus[]> {
    const queue = await this.queue(signal);
    if (!queue.whole) throw new Error(SILENT_QUEUE);
    const accounting = await this.accounting(keyPrefix, signal);
    const ids = idsWithKey(keyPrefix, accounting.rows, queue.rows);
    return [...mergeAll(ids, queue, accounting, mergeStatus).values()].map(
      (incarnations) => incarnations.at(-1)!,
    );
  }

  /** Grid Engine cannot send an arbitrary signal to a running job, so the script watches for a file beside its log. */
  async cancel(id: string, how: "drain" | "now", signal: AbortSignal): Promise<"asked" | "gone"> {
    const queue = await this.queue(signal);
    if (!queue.whole) throw new Error(SILENT_QUEUE);
    const row = queue.rows.find((candidate) => candidate.id === id);
    if (row === undefined) return "gone";
    if (how === "drain" && meaningOfLetters(row.letters).phase !== "pending") {
      const path = parseOutputPath(await this.commands.must(["qstat", "-j", id, "-xml"], signal));
      if (path === null) throw new Error(`qstat does not say where the output of job ${id} goes`);
      await writeFile(`${path}.drain`, "");
      return "asked";
    }
    await this.commands.end(["qdel", id], signal, refusalOf);
    return "asked";
  }

  private async queue(signal: AbortSignal): Promise<Read<QueueRow>> {
    const answer = await this.commands.ask(queueCommand(userInfo().username), signal);
    return answer.exitCode === 0 ? parseQueue(answer.stdout) : SILENCE;
  }

  private async accounting(keyPrefix: string, signal: AbortSignal): Promise<Read<AccountingRow>> {
    const answer = await this.commands.ask(accountingCommand(userInfo().username, keyPrefix), signal);
    if (answer.failure === null && saysNothingIsThere(answer.stderr)) return NOTHING;
    return answer.exitCode === 0 ? parseAccounting(answer.stdout) : SILENCE;
  }
}

const SILENT_QUEUE = "qstat or qacct did not answer, or the answer could not be read";

/** Whether accounting could add nothing, because the job waits or runs in its first incarnation. */
function isSettledByQueue(row: QueueRow | undefined): boolean {
  return row !== undefined && !wasRestarted(row.letters) && !meaningOfLetters(row.letters).stuck;
}
