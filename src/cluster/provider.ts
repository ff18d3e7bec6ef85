import type { AllocationEnd } from "./allocation-end.js";

/**
 * The port to a batch system. An allocation is a job of the batch system that runs one pilot: a `daruma worker` that takes
 * jobs from the server until the allocation ends. `plan` and `classify` are pure; the others start the batch system's own
 * commands.
 */
export interface AllocationProvider {
  /** `slurm` or `gridengine`. */
  readonly name: string;
  probe(signal: AbortSignal): Promise<ProbeResult>;
  /** An empty list of targets: they are not known, so nothing is checked against them. */
  plan(spec: AllocationSpec, targets: readonly Target[]): Plan | Refusal;
  /** Idempotent: a key that was submitted before gives the id of that allocation, whatever has become of it. */
  submit(plan: Plan, signal: AbortSignal): Promise<Submitted | Refusal>;
  /**
   * Every incarnation of every id, the newest last. An id always has at least one; it is `unknown` where the batch
   * system could not be asked, or says nothing about it. Costs two commands, whatever the number of ids.
   */
  status(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly AllocationStatus[]>>;
  /** The newest incarnation of whatever has a key with this prefix. Rejects where the queue cannot be asked. */
  list(keyPrefix: string, signal: AbortSignal): Promise<readonly AllocationStatus[]>;
  /**
   * `drain`: the pilot finishes what it runs and leaves; one that still waits leaves the queue. `now`: the pilot hands
   * its jobs back and leaves. `gone`: there was nothing to cancel. May be repeated. Rejects where nobody answers.
   */
  cancel(id: string, how: "drain" | "now", signal: AbortSignal): Promise<"asked" | "gone">;
  /** Why it ended. Null: it goes on, or nothing is known. A verdict on one that is still in the queue: cancel it. */
  classify(status: AllocationStatus, known: KnownOfPilot): AllocationEnd | null;
}

/** Every key begins with this, so that one command finds all of them. */
export const KEY_PREFIX = "daruma-";

/** What one allocation offers. Those of a node count for each of its nodes. */
export interface Shape {
  readonly nodes: number;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly runtimeMs: number;
}

/** A place to submit to: a partition or a queue. A missing limit is not known, or there is none. */
export interface Target {
  readonly name: string;
  /** What one allocation may have. */
  readonly max: Partial<Pick<Shape, "nodes" | "runtimeMs">>;
  /** What the biggest node has. */
  readonly perNode: Partial<Pick<Shape, "cpus" | "memoryBytes" | "gpus">>;
  readonly preemptible: boolean;
  readonly up: boolean;
  readonly isDefault: boolean;
}

/** What a site adds. Every value is an argument of its own or quoted; only `setup` is shell. */
export interface Profile {
  readonly account?: string | null;
  readonly qos?: string | null;
  /** Slurm: `gpu:a100`, to which the number is added. Grid Engine: the resource that counts GPUs. */
  readonly gres?: string | null;
  /** Grid Engine: the parallel environment that gives several slots on one host. */
  readonly parallelEnvironment?: string | null;
  /** Grid Engine: the resource in which memory is asked for. */
  readonly memoryResource?: string | null;
  /** Further options of `sbatch` or `qsub`, one each with its value: `--constraint=avx512`, `-P genomics`. */
  readonly options: readonly string[];
  /** Lines of shell that run before the pilot: `module load node`. */
  readonly setup: readonly string[];
  /** How the pilot is started on a node: `["daruma"]`, or `["node", "/shared/daruma/dist/cli/main.js"]`. */
  readonly program: readonly string[];
}

export interface AllocationSpec {
  /** Unique. It is the name of the job in the batch system, so that a lost answer is found again. */
  readonly key: string;
  /** The cluster's name in the settings: the first half of `CLUSTER/ID`. */
  readonly cluster: string;
  readonly shape: Shape;
  /** Null: the default one. */
  readonly target: string | null;
  readonly tags: readonly string[];
  readonly excludeNodes: readonly string[];
  /** So long before its end the pilot takes nothing more. */
  readonly drainMs: number;
  readonly idleExitMs: number;
  /** Jobs that the pilot runs at a time; missing: as many as it has processors for. */
  readonly slots?: number;
  readonly server: string;
  /** The path of a file that only this user can read, on every node. Never the token itself. */
  readonly tokenFile: string;
  /** Where the pilot's output goes, on every node. */
  readonly logFile: string;
  readonly profile: Profile;
}

export interface Plan {
  readonly spec: AllocationSpec;
  /** Given to `argv` on standard input. */
  readonly script: string;
  readonly argv: readonly string[];
  readonly warnings: readonly string[];
}

export type RefusalCode = "TOO_BIG" | "NO_TARGET" | "BAD_OPTION" | "DENIED" | "BUSY";

export interface Refusal {
  readonly refused: RefusalCode;
  readonly message: string;
  /** The same again may be accepted later. */
  readonly retryable: boolean;
  /** Nobody knows whether it was accepted: its answer was lost. It is looked for by its key before anything else. */
  readonly answerLost?: true;
}

export function isRefusal(answer: object): answer is Refusal {
  return "refused" in answer;
}

export interface Submitted {
  readonly id: string;
  /** It was there already. */
  readonly found: boolean;
}

/** `ending`: it is being stopped, or its nodes are being cleaned up. `unknown`: nothing can be said now. */
export type Phase = "pending" | "starting" | "running" | "ending" | "ended" | "unknown";

/** What the batch system says about one incarnation: a requeue keeps the id and raises `restart`. Facts, not yet judged. */
export interface AllocationStatus {
  readonly id: string;
  /** Null: not told, or not one of ours. */
  readonly key: string | null;
  readonly restart: number;
  readonly phase: Phase;
  /** It waits and will not start until somebody intervenes: held, in error, or more than the target allows. */
  readonly stuck: boolean;
  readonly native: NativeState;
  readonly nodes: readonly string[];
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly limit: { readonly runtimeMs: number | null; readonly memoryBytes: number | null };
  /** The most that was seen, where the batch system measures it. */
  readonly peakMemoryBytes: number | null;
  /** `none`: everybody answered, and nobody knows it. `unreachable`: nobody who might know it answered. */
  readonly source: "queue" | "accounting" | "none" | "unreachable";
}

/** In the batch system's own words. */
export interface NativeState {
  readonly state: string;
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly signal: number | null;
}

/** What the server knows about an incarnation and the batch system does not. */
export interface KnownOfPilot {
  /** It has reached the server at least once. */
  readonly registered: boolean;
  /** The server has asked for its end. */
  readonly cancelAsked: boolean;
  /** For how long it has been `unknown` without a break. */
  readonly unknownForMs: number;
}

export interface Capabilities {
  /** Ended allocations are remembered after the queue has forgotten them. */
  readonly accounting: boolean;
  readonly requeue: boolean;
  readonly memoryEnforced: "allocation" | "process" | "unknown";
}

export interface ProbeResult {
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly targets: readonly Target[];
}
