import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { DarumaError } from "../../../core/errors/errors.js";
import type { RunStatus } from "../../../core/model/rows.js";
import { counted } from "../../../core/text/amount-text.js";
import { parseDuration } from "../../../file/read/amounts.js";
import type { Client, InputOf } from "../../../operations/client.js";
import type { FollowFlags } from "../../server/server-flags.js";
import type { GlobalOptions } from "../../terminal/channel.js";
import { agent } from "./agent.js";
import { foundLines, type Recovery, recoveryLines } from "./recovery-lines.js";

/** What is done about failures, and by whom. It is the same in every round. */
export interface RoundsPlan {
  readonly policy: Omit<InputOf<"recover_run">, "run_id" | "dry_run" | "job_ids" | "key">;
  readonly maxRounds: number;
  /** Called before jobs run again. Throws if they must not. */
  readonly hook: ((round: Round) => Promise<void>) | null;
  /** Decides about held jobs that cannot be recovered. */
  readonly agent: AskAgent | null;
}

export type AskAgent = (round: Round, call: Client["call"]) => Promise<void>;

export interface Round {
  readonly runId: number;
  readonly number: number;
  readonly jobIds: readonly number[];
}

/** Statuses in which a run needs recovery. */
const DOWN: ReadonlySet<RunStatus> = new Set<RunStatus>(["failed", "held"]);

/** Recovers a run that has failed or is held, up to a limit. */
export class Rounds {
  private used = 0;

  constructor(
    private readonly call: Client["call"],
    private readonly plan: RoundsPlan,
    private readonly say: (text: string) => void,
  ) {}

  /** Called when the run rests. Returns true if it can go on. */
  async next(runId: number): Promise<boolean> {
    const { policy, maxRounds, hook, agent } = this.plan;
    const found = await this.call("recover_run", { ...policy, run_id: runId, dry_run: true });
    if (!DOWN.has(found.before)) return false;
    const isAgents = found.recovered === 0 && agent !== null && found.before === "held";
    if (found.recovered === 0 && !isAgents) return this.stay(found, "nothing can be recovered");
    if (this.used === maxRounds) return this.stay(found, `no rounds left (${maxRounds} used)`, true);
    this.used += 1;
    if (isAgents) return this.ask(agent, found);
    const jobIds = found.jobs.flatMap(({ job_id, recovers }) => (recovers ? [job_id] : []));
    await hook?.({ runId, number: this.used, jobIds });
    // The key keeps a repeated request, after a lost answer, from recovering twice.
    const key = randomUUID();
    const done = await this.call("recover_run", { ...policy, run_id: runId, job_ids: jobIds, key });
    for (const line of recoveryLines(done)) this.say(`${this.name}: ${line}`);
    return done.recovered > 0;
  }

  private get name(): string {
    return `round ${this.used} of ${this.plan.maxRounds}`;
  }

  private stay(found: Recovery, why: string, isOver = false): false {
    this.say(`run ${found.run_id} stays ${found.before}: ${why}`);
    for (const line of foundLines(found.jobs, { isOver })) this.say(line);
    return false;
  }

  private async ask(agent: NonNullable<RoundsPlan["agent"]>, found: Recovery): Promise<boolean> {
    const jobIds = found.jobs.map(({ job_id }) => job_id);
    this.say(`${this.name}: the agent decides about ${counted(jobIds.length, "job")}`);
    await agent({ runId: found.run_id, number: this.used, jobIds }, this.call);
    const { status } = await this.call("get_run", { run_id: found.run_id });
    if (status !== "held") return true;
    return this.stay(found, "the agent has not decided everything");
  }
}

/** The error of a hook that failed or could not be started. Nothing is recovered then. */
function hookFailed(command: string, how: string): DarumaError {
  return new DarumaError("RECOVERY_HOOK_FAILED", `${command}: ${how}`);
}

/** Limit for an environment variable on Linux. The ids are also on stdin. */
const MAX_IDS_CHARS = 100_000;

/** Implements `--recovery-hook`: a shell command that runs once before the jobs of a round run again. */
function recoveryHook(command: string): (round: Round) => Promise<void> {
  return async ({ runId, number, jobIds }) => {
    const ids = jobIds.join(",");
    const child = spawn("sh", ["-c", command], {
      // Its output goes to stderr, because stdout is for the result of this command.
      stdio: ["pipe", 2, 2],
      env: {
        ...process.env,
        DARUMA_RUN_ID: String(runId),
        DARUMA_ROUND: String(number),
        DARUMA_JOB_IDS: ids.length > MAX_IDS_CHARS ? "" : ids,
      },
    });
    // A hook that does not read the ids may already be gone.
    child.stdin?.on("error", () => {});
    child.stdin?.end(`${jobIds.join("\n")}\n`);
    const how = await new Promise<string | null>((settle) => {
      child.once("error", ({ message }) => settle(message));
      child.once("close", (code, signal) => settle(code === 0 ? null : endText(code, signal)));
    });
    if (how !== null) throw hookFailed(command, how);
  };
}

function endText(code: number | null, signal: NodeJS.Signals | null): string {
  return code === null ? `ended by ${signal}` : `exit code ${code}`;
}

/** Flags of `recover` and of `watch --recover` that the command line itself handles. */
export interface RecoverFlags extends FollowFlags {
  readonly recoveryHook?: string;
  readonly maxRounds?: number;
  readonly agent?: string;
  readonly agentTimeout?: string;
}

const DEFAULT_AGENT_TIMEOUT = "30m";

export function roundsPlan(
  policy: RoundsPlan["policy"],
  flags: RecoverFlags,
  options: GlobalOptions,
  usualRounds: number,
): RoundsPlan {
  const { recoveryHook: hook, maxRounds, agent: command } = flags;
  return {
    policy,
    maxRounds: maxRounds ?? usualRounds,
    hook: hook === undefined ? null : recoveryHook(hook),
    agent: command === undefined ? null : agent(command, agentTimeout(flags), options),
  };
}

function agentTimeout({ agentTimeout: text = DEFAULT_AGENT_TIMEOUT }: RecoverFlags): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new DarumaError("USAGE", `--agent-timeout: ${text} is not a duration`, { hint: "Write 30m or 2h." });
}
