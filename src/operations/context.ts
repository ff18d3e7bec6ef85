import type { CommandOutcome } from "../core/decide/take-command.js";
import type { OperatorCommand } from "../core/model/commands.js";
import type { BreakerDefinition, Definition, NotifyRule } from "../core/model/definition.js";
import type { Job } from "../core/model/run.js";
import { number, type OfFields, text, word } from "../core/text/shape.js";
import type { ChannelSettings } from "../file/settings/channels.js";
import type { LimitSettings } from "../file/settings/limits.js";
import type { RetentionSettings } from "../file/settings/retention.js";
import type { ClusterSettings } from "../file/settings/settings.js";
import type { AllocationSpec, Plan, Refusal, Target } from "../fleet/allocations/provider.js";
import type { ScalePlan } from "../fleet/allocations/scale/plan-allocations.js";
import type { NoPlace } from "../fleet/desk/why-no-place.js";
import type { StoreInspection } from "../store/inspect/store-inspection.js";
import type { Store } from "../store/store.js";
import type { Role } from "./roles.js";
import type { StartOptions } from "./runs/start-options.js";
import type { Reading, Workflow } from "./workflows/workflow.js";

/** What the handlers of operations work with: a server's parts, or those of one command line. */
export interface Context extends Reading {
  readonly store: Store;
  /** The folder of logs and artifacts. */
  readonly outputDir: string;
  readonly principal: Principal;
  readonly now: () => number;
  /** Gives a command to a run, whichever process runs it. Throws a refusal with its code. */
  readonly operate: (runId: number, command: OperatorCommand) => Promise<CommandOutcome>;
  /**
   * Starts and continues runs. Null in a process that does not stay to do so, such as a command line that only reads a
   * store.
   */
  readonly runner: Runner | null;
  /** The clusters of the settings; null where there are no settings. */
  readonly clusters?: ClusterControl | null;
  /** The version of Daruma. */
  readonly version?: string;
  /** How the store is, also where it cannot be opened. */
  readonly inspectStore?: (full: boolean) => Promise<InspectedStore>;
  /** The settings file, and what is wrong with it. */
  readonly describeSettings?: () => DescribedSettings | Promise<DescribedSettings>;
  /** What the settings say of how long runs are kept; missing where nobody has settings. */
  readonly retention?: () => RetentionSettings | Promise<RetentionSettings>;
  /** What a server accepts, by its flags or the settings. */
  readonly limits?: () => LimitSettings | Promise<LimitSettings>;
  /** The breakers of the settings. */
  readonly breakers?: readonly BreakerDefinition[];
  /** The channels of the settings; null where there are no settings. */
  readonly channels?: ChannelControl | null;
  /** Notification rules of the settings, for all workflows. */
  readonly notify?: readonly NotifyRule[];
  /** Called before a run comes into being at somebody's wish; throws TOO_MANY_RUNS. */
  readonly admitRun?: () => void;
}

/** What operations may do with channels. */
export interface ChannelControl {
  readonly settings: readonly ChannelSettings[];
  /**
   * Sends a test message. Returns null if it has arrived, else the reason. Rejects with CHANNEL_SECRET if it could not
   * be tried.
   */
  test(channel: ChannelSettings): Promise<string | null>;
}

export interface InspectedStore {
  /** The file or the address. */
  readonly place: string;
  /** Null if there is no store, or it does not answer. */
  readonly inspection: StoreInspection | null;
  readonly trouble: { readonly message: string; readonly hint: string } | null;
  /** If false, operations see an empty store instead. */
  readonly isOpen: boolean;
}

export interface DescribedSettings {
  /** Null if no settings file is used. */
  readonly file: string | null;
  readonly problem: string | null;
}

/** What operations may do with clusters. */
export interface ClusterControl {
  readonly settings: readonly ClusterSettings[];
  /** The address at which workers reach the server. */
  server(): string;
  targets(cluster: string): Promise<readonly Target[]>;
  planOf(cluster: string, spec: AllocationSpec, targets: readonly Target[]): Plan | Refusal;
  /** Submit now what the ready jobs of this server need; null: nothing waits for the cluster. */
  planNow(cluster: string): Promise<ScalePlan | null>;
  /** Jobs that no allocation can ever take, as far as was seen at the last look. */
  impossible(): readonly { readonly cluster: string; readonly jobId: number; readonly reason: string }[];
  /** Something of it has changed. */
  wake(cluster: string): void;
}

export interface Principal {
  readonly name: string;
  /** What it calls itself, such as an agent that somebody has started with his own token. */
  readonly as?: string;
  readonly role: Role;
}

/** Who resumes a run, and why. */
export interface Resuming {
  readonly reason: string;
  readonly key: string;
  readonly by: string;
}

export interface Runner {
  /** The run is on record when this answers; it goes on by itself. */
  start(workflow: Workflow, options: StartOptions): Promise<number>;
  /** Go on with a run that nobody runs. */
  resume(runId: number, said: Resuming): Promise<void>;
  listWorkers(): readonly WorkerInfo[];
  /** Ready jobs that have no worker yet, once for each reason. */
  listWaiting(): readonly WaitingJobs[];
  /** Why a ready job has not begun. */
  whyNot(job: PlacedJob, definition: Definition): NoPlace;
}

/** What of a job says which workers could run it. */
export interface PlacedJob {
  readonly id: number;
  readonly step: Pick<Job["step"], "definition">;
  readonly raised: Job["raised"];
}

export const WAITING_JOBS = {
  /** No worker can run them, or those that can are busy. */
  kind: word(["worker", "slot"]),
  reason: text,
  jobs: number,
  /** One of them. */
  run_id: number,
  workflow: text,
  job_id: number,
  step: text,
} as const;
export type WaitingJobs = OfFields<typeof WAITING_JOBS>;

export interface WorkerInfo {
  readonly name: string;
  readonly slots: number;
  readonly used: number;
  readonly cpus: number;
  readonly memory_bytes: number | null;
  readonly gpus: number;
  readonly nodes: number;
  readonly tags: readonly string[];
  readonly node: string | null;
  readonly allocation: string | null;
  readonly restart: number | null;
  readonly draining: boolean;
  readonly leaves_at: number | null;
  readonly last_seen_at: number;
  readonly attempts: readonly { readonly job_id: number; readonly attempt: number }[];
}
