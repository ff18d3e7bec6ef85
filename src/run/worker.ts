import type { UpstreamText } from "../core/failure/context-assembly.js";
import type { FailureContextInput } from "../core/failure/failure-context.js";
import type { RepairTold } from "../core/failure/retry-context.js";
import type { UserData } from "../core/model/batch/user-data.js";
import type { ActionDefinition, ResourceRequirements } from "../core/model/definition.js";
import type { RunEnd } from "../core/model/ending/run-ending.js";
import type { ClassifiedFailure, Failure, FailureFacts } from "../core/model/failure.js";
import type { EarlierFiles } from "../core/model/files-policy.js";
import type { EarlierRound, Hint, LedRoute } from "../core/model/led-by.js";
import type { Outcome } from "../core/model/outcome.js";
import type { Limit, Resource } from "../core/model/resources.js";
import type { AttemptPlace, Placed } from "../core/model/worker-names.js";
import type { LoggedText } from "../core/text/head-tail.js";
import type { Json } from "../core/text/json.js";
import type { EndedRun } from "./process/run-leftovers.js";

/** One attempt for a worker: everything it needs, with rendered templates. */
export interface Assignment {
  readonly runId: number;
  readonly workflowId: number;
  readonly jobId: number;
  readonly stepId: string;
  readonly attempt: number;
  readonly token: string;
  readonly startedAt: number;
  readonly action: ActionDefinition;
  /**
   * The variables of the file and the step. The worker's environment is overridden by them, and DARUMA_* override both.
   */
  readonly env: { readonly [name: string]: string };
  readonly secrets: readonly string[];
  /** Further variables whose values are redacted if they are set. */
  readonly hidden?: readonly string[];
  /** Relative if the run has no folder: it then starts at the worker's own folder of the run. */
  readonly cwd: string;
  readonly variables: { readonly [name: string]: Json };
  /** The files that it declares. Relative paths start at `folder`, those of a workspace step at the workspace. */
  readonly files?: {
    readonly inputs: readonly string[];
    readonly outputs: readonly string[];
    /** Empty if the run has none. */
    readonly folder: string;
  };
  /** The values that it reads, and the names of those that it writes. */
  readonly userData?: { readonly given: UserData; readonly outputs: readonly string[] };
  readonly timeoutMs: number | null;
  readonly idleTimeoutMs: number | null;
  readonly killGraceMs: number;
  readonly outputSchema: Json | null;
  /** The limit for a forEach step's items. */
  readonly maxItems?: number;
  /** Limit for both logs together. By default that of a workflow. */
  readonly maxLogBytes?: number;
  readonly resources: ResourceRequirements | null;
  /** The interval for samples of its processes' resource use. By default none are taken. */
  readonly sampleEveryMs?: number;
  /** Names of the GPUs reserved for it, set by the worker that executes it. */
  readonly gpus?: readonly string[];
  /** Its scripts may come from Torc, so variables have Torc's names, too. */
  readonly asTorc?: true;
  /** Tags that the worker must have. */
  readonly runsOn: readonly string[];
  /** A command that sums up a failed attempt, instead of the built-in summary. */
  readonly summarize: string | null;
  /** For a step with a child run: the first attempt that may have started the child that this attempt continues. */
  readonly childSince?: number;
  /** The exit code of the failure before this attempt. For a recovery script, that of the failed attempt. */
  readonly returnCode: number | null;
  /** Whether this is a recovery script, whose logs have their own names. */
  readonly recovery: boolean;
  /** Where the previous attempt ran. A recovery script should run there if possible. */
  readonly lastWorker: string | null;
  /** The failure that led here. */
  readonly failureSource: FailureSource | null;
  /** The failed attempt before this one, if there is one. */
  readonly retry?: RetryMaterial;
  /** A person's hint to the step for this attempt. */
  readonly hint?: Hint;
  /** For undo and finally steps: how the run ends. */
  readonly runEnd?: RunEnd;
  /** Where the changes of its earlier attempts are, if it may read them. */
  readonly earlierFiles?: readonly EarlierFiles[];
  /** Set for a step of the run's workspace, to which `cwd` is then relative. */
  readonly workspace?: AssignedWorkspace;
  /** For actions with a prompt: its content besides their own keys. */
  readonly promptMaterial?: PromptMaterial;
  /** The failure context, prepared where all logs are, for a worker that does not have them. */
  readonly failureContext: FailureContext | null;
  /** Set if the attempt failed before it could begin because a template could not be rendered. */
  readonly failedAlready: FailureFacts | null;
}

export interface AssignedWorkspace {
  /** The path in the log. The output folder may have been moved since. */
  readonly path: string;
  /** The commit of the last checkpoint that counts, or the pinned one. */
  readonly since: string;
  /** The ordinal of the checkpoint that the attempt makes if it succeeds. */
  readonly ordinal: number;
  /** The step's position in the file, from 0. */
  readonly index: number;
  /** Whether changes of files count as a sign of life for the idle timeout. */
  readonly watchFiles: boolean;
  /** The attempt's changes belong to no checkpoint. */
  readonly leavesNoCheckpoint?: true;
  /** Its success will be judged again, so its changes are also kept like those of a failed attempt. */
  readonly mayFailYet?: true;
}

export interface PromptMaterial {
  /** The objective of the whole run, unless the step has its own. */
  readonly objective: string;
  /** The outputs of its dependencies, except those that its prompt names itself. */
  readonly upstream: readonly UpstreamText[];
  /** The failure that led here, prepared for a worker that does not have the logs. */
  readonly failure?: FailureContextInput;
}

/** The failed attempt before this one: in the same visit, or before a person had the step run again. */
export interface RetryMaterial {
  readonly attempt: number;
  readonly failure: ClassifiedFailure;
  readonly signature: string;
  /** For a workspace step: what the failed attempt had changed. */
  readonly changedFiles?: readonly string[];
  readonly diffHash?: string;
  /** The repairs since then. */
  readonly repairs: readonly RepairTold[];
  /** The summary by the step's own command, prepared for a worker that does not have the file. */
  readonly summary?: string | null;
}

/** The envelope for `$DARUMA_FAILURE_CONTEXT` and its manifest. */
export interface FailureContext {
  readonly text: string;
  readonly manifest: Json;
}

/** Where a failure came from and how it came here, for the context that goes with it. */
export interface FailureSource {
  readonly workflowId: number;
  readonly runId: number;
  readonly jobId: number;
  readonly attempt: number;
  readonly step: string;
  readonly target: string;
  readonly route: LedRoute;
  readonly round: number;
  readonly rounds: number | null;
  readonly earlier: readonly EarlierRound[];
  readonly failure: Failure;
  /** JSON that it printed all the same; null if none. */
  readonly output: LoggedText | null;
  readonly maxRetries: number;
  readonly retriesUsed: number;
  /** The outputs of the target's own dependencies, for the room that the failure leaves. */
  readonly upstream: readonly UpstreamText[];
}

/**
 * Called once with the outcome, or with null if the attempt continues without this engine. `settled` is then called
 * once with what became of the outcome.
 */
export type Ended = (outcome: Outcome | null, settled?: (fate: Fate) => void) => void;

/**
 * `committed`: it is on record. `stale`: the run has moved on and does not need it. `not_owned`: this engine does not
 * (or no longer) speak for the run; its next owner may want the outcome.
 */
export type Fate = "committed" | "stale" | "not_owned";

/** What an attempt requires of its worker. */
export interface Needs {
  /** One, or as many as the processors it wants. 0 for a step that only waits for others. */
  readonly slots: number;
  /** The processors that it asks for; 0 if it does not say. */
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  /** The number of machines. Only an allocation made for it has more than one. */
  readonly nodes: number;
  /** How long it may take; null if it does not say. */
  readonly runtimeMs: number | null;
  readonly tags: readonly string[];
  /** Secrets and programs by name, such as `secret API_KEY` and `program git`. */
  readonly wants: readonly string[];
  readonly actionType: string;
  /** Whether it works in the run's workspace, which is in the folder of the process that owns the run. */
  readonly usesWorkspace: boolean;
}

/** Room on a worker that is reserved for one attempt. */
export interface Seat {
  /** The worker's name in the log. */
  readonly worker: string;
  /** Missing if unknown. */
  readonly at?: AttemptPlace;
  /** The reason for the choice, if it is not room alone. */
  readonly placed?: Placed;
  /** Names of the GPUs reserved for it. By default none. */
  readonly gpus?: readonly string[];
  /** Whether its worker has a bash. Missing if unknown. */
  readonly hasBash?: boolean;
}

/** Preferences of an attempt for its place. */
export interface PlaceWish {
  /**
   * Whether to use `worker`, the one of the last attempt (by the name under which its health is counted), or another
   * one. Null for no preference.
   */
  readonly on: "other" | "same" | null;
  readonly worker: string | null;
  /** It would rather wait for another busy worker than go back there. */
  readonly patient: boolean;
  /** If it fails it is repeated, so it may test whether a worker in quarantine works again. */
  readonly mayProve: boolean;
}

/** An attempt, or a recovery script, that an earlier engine had started. */
export interface HeldAttempt {
  readonly runId: number;
  readonly workflowId: number;
  readonly jobId: number;
  readonly attempt: number;
  readonly token: string;
  /** The worker that had it. For a recovery script, the one of the failed attempt. */
  readonly worker: string;
  /** Where that was, if known. */
  readonly at?: AttemptPlace;
  readonly recovery: boolean;
  /** Limit for both logs together. By default that of a workflow. */
  readonly maxLogBytes?: number;
  /** What it takes of its worker. A recovery script takes no room. */
  readonly needs: Needs;
}

/**
 * Why an attempt's signal is aborted: nobody wants it any more (`stopped`), or this engine releases its run
 * (`released`).
 */
export type AbortCause = "stopped" | "released";

/** Executes attempts, in this process or on any number of others. The engine decides, a worker executes. */
export interface Worker {
  /**
   * Reserves a place for an attempt. `full`: no worker has any room, so do not ask again this turn. Null: there is none
   * for this attempt. Only a patient wish makes it wait.
   */
  place(needs: Needs, wish?: PlaceWish): Seat | "full" | null;
  /**
   * Reserves the room of the worker that can take this attempt soonest, so that later attempts do not delay it. Null
   * reserves it for nobody. Returns false if the attempt asks for no more than others, or no worker is large enough. If
   * this method is missing, small attempts go first.
   */
  keepRoomFor?(needs: Needs | null): boolean;
  /**
   * The worker name for steps that do nothing and are passed without being executed. If it is missing, they are
   * executed like others.
   */
  readonly doesNothingAs?: string;
  /** Whether a workspace step with these needs will get its turn here. If this method is missing, that is unknown. */
  hasTurnFor?(needs: Needs): boolean;
  /** The most of a resource that an attempt with these tags can get; null if no limit is known. */
  mostOf?(runsOn: readonly string[], resource: Resource): Limit | null;
  /** Releases a place: its attempt has reported, or none was started on it. */
  release(place: Seat): void;
  /**
   * Executes an attempt. Never throws. Without a place (a recovery script) it takes no room. Aborting the signal with
   * `stopped` ends the attempt's processes. `released` does so too if they depend on this process; otherwise `ended` is
   * called with null: the attempt continues, and the next owner of its run adopts it.
   */
  execute(assignment: Assignment, place: Seat | null, signal: AbortSignal, ended: Ended): void;
  /**
   * Takes over, like `execute`, what an earlier engine started on a worker that may still have it. Returns false if it
   * is certainly gone.
   */
  adopt(attempt: HeldAttempt, signal: AbortSignal, ended: Ended): boolean;
  /** Calls the listener when room may have appeared without a report. Returns a function that removes it. */
  onRoom(listener: () => void): () => void;
  /** Ends what an attempt that will be declared lost may have left running on this host. */
  endLeftovers(token: string): Promise<void>;
  /** Ends what a finished run's attempts left running on this host, except what asked to stay. */
  endRun?(run: EndedRun): void;
  close(): Promise<void>;
}
