import type { AllocationEnd } from "./allocation-end.js";

/**
 * The port to a batch system. An allocation is a job of the batch system that runs one pilot: a `daruma worker` that
 * takes jobs from the server until the allocation ends. `plan` and `classify` are pure; the other methods run the batch
 * system's own commands.
 */
export interface AllocationProvider {
  /** `slurm` or `gridengine`. */
  readonly name: string;
  probe(signal: AbortSignal): Promise<ProbeResult>;
  /** Makes a submission from a spec. If no targets are known (an empty list), nothing is checked against them. */
  plan(spec: AllocationSpec, targets: readonly Target[]): Plan | Refusal;
  /**
   * Submits a plan. Idempotent: a key that was submitted before returns the id of that allocation, whatever state it is
   * in.
   */
  submit(plan: Plan, signal: AbortSignal): Promise<Submitted | Refusal>;
  /**
   * Returns every incarnation of every id, the newest last. An id has at least one; it is `unknown` if the batch system
   * could not be asked or does not report it. Costs two commands, whatever the number of ids.
   */
  status(
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly AllocationStatus[]>>;
  /** Returns the newest incarnation of every job whose key has this prefix. Rejects if the queue cannot be read. */
  list(keyPrefix: string, signal: AbortSignal): Promise<readonly AllocationStatus[]>;
  /**
   * Cancels an allocation. With `drain` the pilot finishes what it runs and leaves; one that still waits leaves the
   * queue. With `now` the pilot hands its jobs back and leaves. Returns `gone` if there was nothing to cancel. May be
   * repeated. Rejects if the batch system does not answer.
   */
  cancel(id: string, how: "drain" | "now", signal: AbortSignal): Promise<"asked" | "gone">;
  /**
   * Says why an allocation ended. Null if it goes on or nothing is known. If it returns an end for one that is still in
   * the queue, cancel it.
   */
  classify(status: AllocationStatus, known: KnownOfPilot): AllocationEnd | null;
}

/** Prefix of every key, so that one command finds all allocations. */
export const KEY_PREFIX = "daruma-";

/** What one allocation offers. CPUs, memory and GPUs are per node. */
export interface Shape {
  readonly nodes: number;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  readonly runtimeMs: number;
}

/** A partition or queue to submit to. A missing limit is unknown or does not exist. */
export interface Target {
  readonly name: string;
  /** Limits for one allocation. */
  readonly max: Partial<Pick<Shape, "nodes" | "runtimeMs">>;
  /** Resources of the largest node. */
  readonly perNode: Partial<Pick<Shape, "cpus" | "memoryBytes" | "gpus">>;
  readonly preemptible: boolean;
  readonly up: boolean;
  readonly isDefault: boolean;
}

/** Additions of a site. Every value is an argument of its own or quoted; only `setup` is shell code. */
export interface Profile {
  readonly account?: string | null;
  readonly qos?: string | null;
  /** Slurm: a resource such as `gpu:a100`; the count is appended. Grid Engine: the resource that counts GPUs. */
  readonly gres?: string | null;
  /** Grid Engine: the parallel environment that provides several slots on one host. */
  readonly parallelEnvironment?: string | null;
  /** Grid Engine: the resource with which memory is requested. */
  readonly memoryResource?: string | null;
  /** Further options of `sbatch` or `qsub`, each with its value: `--constraint=avx512`, `-P genomics`. */
  readonly options: readonly string[];
  /** Shell lines that run before the pilot: `module load node`. */
  readonly setup: readonly string[];
  /** The command that starts the pilot on a node: `["daruma"]`, or `["node", "/shared/daruma/dist/cli/main.js"]`. */
  readonly program: readonly string[];
}

export interface AllocationSpec {
  /** A unique key. It is also the job's name in the batch system, so that a job whose answer was lost can be found. */
  readonly key: string;
  /** The cluster's name in the settings: the first half of `CLUSTER/ID`. */
  readonly cluster: string;
  readonly shape: Shape;
  /** The target's name; null for the default. */
  readonly target: string | null;
  readonly tags: readonly string[];
  readonly excludeNodes: readonly string[];
  /** How long before its end the pilot stops taking jobs. */
  readonly drainMs: number;
  readonly idleExitMs: number;
  /** How many jobs the pilot runs at a time. By default one per processor. */
  readonly slots?: number;
  readonly server: string;
  /** The path, on every node, of a file that only this user can read. Never the token itself. */
  readonly tokenFile: string;
  /** The path of the pilot's output on every node. */
  readonly logFile: string;
  readonly profile: Profile;
}

export interface Plan {
  readonly spec: AllocationSpec;
  /** The script, which `argv` gets on standard input. */
  readonly script: string;
  readonly argv: readonly string[];
  readonly warnings: readonly string[];
}

export type RefusalCode = "TOO_BIG" | "NO_TARGET" | "BAD_OPTION" | "DENIED" | "BUSY";

export interface Refusal {
  readonly refused: RefusalCode;
  readonly message: string;
  /** Whether the same submission may be accepted later. */
  readonly retryable: boolean;
  /**
   * The answer was lost, so it is unknown whether the job was accepted. It is looked up by its key before anything else
   * happens.
   */
  readonly answerLost?: true;
}

export function isRefusal(answer: object): answer is Refusal {
  return "refused" in answer;
}

export interface Submitted {
  readonly id: string;
  /** Whether it existed already. */
  readonly found: boolean;
}

/** `ending`: it is being stopped, or its nodes are being cleaned up. `unknown`: its phase cannot be determined now. */
export type Phase = "pending" | "starting" | "running" | "ending" | "ended" | "unknown";

/** What the batch system reports about one incarnation, not yet judged. A requeue keeps the id and raises `restart`. */
export interface AllocationStatus {
  readonly id: string;
  /** Null if it is unknown or not one of ours. */
  readonly key: string | null;
  readonly restart: number;
  readonly phase: Phase;
  /** It waits and will not start until somebody intervenes: held, in error, or larger than the target allows. */
  readonly stuck: boolean;
  readonly native: NativeState;
  readonly nodes: readonly string[];
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly limit: { readonly runtimeMs: number | null; readonly memoryBytes: number | null };
  /** The highest measured use, if the batch system measures it. */
  readonly peakMemoryBytes: number | null;
  /** `none`: all commands answered, and none knows it. `unreachable`: a command that might know it did not answer. */
  readonly source: "queue" | "accounting" | "none" | "unreachable";
}

/** The state in the batch system's own terms. */
export interface NativeState {
  readonly state: string;
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly signal: number | null;
}

/** What only the server knows about an incarnation. */
export interface KnownOfPilot {
  /** The pilot has contacted the server at least once. */
  readonly registered: boolean;
  /** The server has asked to cancel it. */
  readonly cancelAsked: boolean;
  /** How long it has been `unknown` without interruption. */
  readonly unknownForMs: number;
}

export interface Capabilities {
  /** Accounting remembers ended allocations after the queue has forgotten them. */
  readonly accounting: boolean;
  readonly requeue: boolean;
  readonly memoryEnforced: "allocation" | "process" | "unknown";
}

export interface ProbeResult {
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly targets: readonly Target[];
}
