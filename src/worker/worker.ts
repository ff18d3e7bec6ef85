import type { EndedRun } from "../action/process/run-leftovers.js";
import type { UpstreamText } from "../core/failure/context-assembly.js";
import type { FailureContextInput } from "../core/failure/failure-context.js";
import type { RepairTold } from "../core/failure/retry-context.js";
import type { UserData } from "../core/model/batch/user-data.js";
import type { ActionDefinition, ResourceRequirements } from "../core/model/definition.js";
import type { ClassifiedFailure, Failure, FailureFacts } from "../core/model/failure.js";
import type { EarlierFiles } from "../core/model/files-policy.js";
import type { EarlierRound, Hint, LedRoute } from "../core/model/led-by.js";
import type { Outcome } from "../core/model/outcome.js";
import type { Limit, Resource } from "../core/model/resources.js";
import type { AttemptPlace, Placed } from "../core/model/worker-names.js";
import type { LoggedText } from "../core/text/head-tail.js";
import type { Json } from "../core/text/json.js";

/** One attempt handed to a worker: everything it needs, templates rendered. */
export interface Assignment {
  readonly runId: number;
  readonly workflowId: number;
  readonly jobId: number;
  readonly stepId: string;
  readonly attempt: number;
  readonly token: string;
  readonly startedAt: number;
  readonly action: ActionDefinition;
  /** The file's and the step's own variables; the worker puts its environment below and DARUMA_* above them. */
  readonly env: { readonly [name: string]: string };
  readonly secrets: readonly string[];
  /** Further variables whose values are hidden where they are set. */
  readonly hidden?: readonly string[];
  /** Relative where the run has no folder: it begins at the worker's own folder of the run. */
  readonly cwd: string;
  readonly variables: { readonly [name: string]: Json };
  /** What it says it needs and makes; relative paths begin at `folder`, those of a workspace step at the workspace. */
  readonly files?: {
    readonly inputs: readonly string[];
    readonly outputs: readonly string[];
    /** Empty where the run has none. */
    readonly folder: string;
  };
  /** The values that it reads, and the names of those that it writes. */
  readonly userData?: { readonly given: UserData; readonly outputs: readonly string[] };
  readonly timeoutMs: number | null;
  readonly idleTimeoutMs: number | null;
  readonly killGraceMs: number;
  readonly outputSchema: Json | null;
  /** For a forEach step: how many items its output may have. */
  readonly maxItems?: number;
  /** Of both logs together; without it the default of a workflow. */
  readonly maxLogBytes?: number;
  readonly resources: ResourceRequirements | null;
  /** What its processes use is noted so often; without it never. */
  readonly sampleEveryMs?: number;
  /** Names of the graphics processors that it has to itself; the worker that executes it says which. */
  readonly gpus?: readonly string[];
  /** Its scripts may come from Torc: what they are told has Torc's names too. */
  readonly asTorc?: true;
  /** Tags that the worker must have. */
  readonly runsOn: readonly string[];
  /** A command that sums up a failed attempt, instead of the built-in summary. */
  readonly summarize: string | null;
  /** For a step that has a child run: the first attempt that may have made the one which this attempt is for. */
  readonly childSince?: number;
  /** Exit code of the failure before this attempt; for a recovery script that of the failed attempt. */
  readonly returnCode: number | null;
  /** This is a recovery script, not an attempt: its logs have names of their own. */
  readonly recovery: boolean;
  /** Where the attempt before ran: a recovery script is wanted there, if that can be. */
  readonly lastWorker: string | null;
  /** The failure that led here. */
  readonly failureSource: FailureSource | null;
  /** The failed attempt before this one, if there is one. */
  readonly retry?: RetryMaterial;
  /** What somebody tells the step for this attempt. */
  readonly hint?: Hint;
  /** Where the changes of its earlier attempts are, where it may look for them. */
  readonly earlierFiles?: readonly EarlierFiles[];
  /** For a step of the run's workspace; `cwd` is relative to it then. */
  readonly workspace?: AssignedWorkspace;
  /** For actions that are told something in words: what goes into their prompt beside their own keys. */
  readonly promptMaterial?: PromptMaterial;
  /** The same, prepared where all logs are, for a worker that does not have them. */
  readonly failureContext: FailureContext | null;
  /** The attempt failed before it could begin: a template did not render. */
  readonly failedAlready: FailureFacts | null;
}

export interface AssignedWorkspace {
  /** As the log has it; the output folder may have been moved since. */
  readonly path: string;
  /** The commit of the last checkpoint that counts, or the pinned one. */
  readonly since: string;
  /** Of the checkpoint that the attempt leaves if it succeeds. */
  readonly ordinal: number;
  /** The step's place in the file, from 0. */
  readonly index: number;
  /** Changes of files are a sign of life for the idle timeout, too. */
  readonly watchFiles: boolean;
  /** What the attempt changes belongs to no checkpoint. */
  readonly leavesNoCheckpoint?: true;
  /** Its success is judged once more: what it left is kept as that of a failed attempt, too. */
  readonly mayFailYet?: true;
}

export interface PromptMaterial {
  /** What the whole run is for, unless the step has an objective of its own. */
  readonly objective: string;
  /** What its dependencies gave, but for those whose outputs its prompt names itself. */
  readonly upstream: readonly UpstreamText[];
  /** The failure that led here, prepared for a worker that does not have the logs. */
  readonly failure?: FailureContextInput;
}

/** The failed attempt before this one: in the same visit, or before a person had the step run again. */
export interface RetryMaterial {
  readonly attempt: number;
  readonly failure: ClassifiedFailure;
  readonly signature: string;
  /** Of a workspace step: what the failed attempt had changed. */
  readonly changedFiles?: readonly string[];
  readonly diffHash?: string;
  /** What has been repaired since. */
  readonly repairs: readonly RepairTold[];
  /** What the step's own command said of it, prepared for a worker that does not have the file. */
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
  /** JSON that it gave all the same; null: none. */
  readonly output: LoggedText | null;
  readonly maxRetries: number;
  readonly retriesUsed: number;
  /** What the target's own dependencies gave, for the room that the failure leaves. */
  readonly upstream: readonly UpstreamText[];
}

/** Called once, with null where the attempt goes on without this engine; `settled` then once, with what became of it. */
export type Ended = (outcome: Outcome | null, settled?: (fate: Fate) => void) => void;

/**
 * `committed`: it is on record. `stale`: the run has moved on and has no use for it. `not_owned`: this engine does not,
 * or no longer, speak for the run; whoever takes it next may want the outcome.
 */
export type Fate = "committed" | "stale" | "not_owned";

/** What an attempt asks of the worker that is to have it. */
export interface Needs {
  /** One, or as many as it wants processors; 0 for a step that only waits for others. */
  readonly slots: number;
  /** Processors that it asks for by name; 0 where it says nothing. */
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  /** Machines at once: more than one has only an allocation that was made for it. */
  readonly nodes: number;
  /** How long it may take; null where it does not say. */
  readonly runtimeMs: number | null;
  readonly tags: readonly string[];
  /** Secrets and programs by name, such as `secret API_KEY` and `program git`. */
  readonly wants: readonly string[];
  readonly actionType: string;
  /** It works in the run's workspace, which lies in the folder of the process that owns the run. */
  readonly usesWorkspace: boolean;
}

/** Room on a worker that is held for one attempt. */
export interface Place {
  /** As the log names it. */
  readonly worker: string;
  /** Without it nobody knows. */
  readonly at?: AttemptPlace;
  /** Why there, where that is not the room alone. */
  readonly placed?: Placed;
  /** Names of the graphics processors that it has to itself; without it none. */
  readonly gpus?: readonly string[];
  /** Its worker finds a bash; without it nobody knows of one. */
  readonly hasBash?: boolean;
}

/** What an attempt would like of its place. */
export interface PlaceWish {
  /** Beside `worker`, where its last attempt was, by the name that answers for it. Null: it has no wish. */
  readonly on: "other" | "same" | null;
  readonly worker: string | null;
  /** It rather waits for another that is busy than goes back there. */
  readonly patient: boolean;
  /** If it fails it is made again, so it may show whether a worker that was in quarantine works again. */
  readonly mayProve: boolean;
}

/** An attempt, or a recovery script, that an earlier engine had begun. */
export interface HeldAttempt {
  readonly runId: number;
  readonly workflowId: number;
  readonly jobId: number;
  readonly attempt: number;
  readonly token: string;
  /** The worker that had it; for a recovery script the one that had the failed attempt. */
  readonly worker: string;
  /** Where that was, as far as it is known. */
  readonly at?: AttemptPlace;
  readonly recovery: boolean;
  /** Of both logs together; without it the default of a workflow. */
  readonly maxLogBytes?: number;
  /** What it takes of its worker: no room where it is a recovery script. */
  readonly needs: Needs;
}

/** Why an attempt's signal is aborted: nobody wants it any more, or this engine lets go of its run. */
export type AbortCause = "stopped" | "released";

/** Executes attempts, in this process or through any number of others. The engine decides, a worker does. */
export interface Worker {
  /**
   * A place for an attempt now. `full`: nobody has any room, do not ask again this turn; null: none for this one. Only
   * a patient wish keeps it waiting.
   */
  place(needs: Needs, wish?: PlaceWish): Place | "full" | null;
  /**
   * Nobody has room for this one: keep the room of the worker that can have it soonest, so that what is placed from now on
   * does not delay it. Null: for nobody. False: it asks for no more than any other, or no worker is large enough. Without
   * it small attempts go first.
   */
  keepRoomFor?(needs: Needs | null): boolean;
  /** In whose name steps that do nothing are passed without being executed; without it they are executed like others. */
  readonly doesNothingAs?: string;
  /** A step of a workspace with these needs has its turn here sooner or later; without it, nobody knows. */
  hasTurnFor?(needs: Needs): boolean;
  /** The most of a resource that an attempt with these tags can be given; null: no limit is known. */
  mostOf?(runsOn: readonly string[], resource: Resource): Limit | null;
  /** Give back a place: its attempt has reported, or no attempt came to it. */
  release(place: Place): void;
  /**
   * Never throws. Without a place (a recovery script) it takes no room. Aborting the signal with `stopped` ends the
   * attempt's processes; with `released` too where they would die with this process, else it has ended with null: the
   * attempt goes on, and the next owner of its run adopts it.
   */
  execute(assignment: Assignment, place: Place | null, signal: AbortSignal, ended: Ended): void;
  /** What an earlier engine began on a worker that may still have it, as `execute`. False: it is certainly gone. */
  adopt(attempt: HeldAttempt, signal: AbortSignal, ended: Ended): boolean;
  /** Called when room may have appeared without a report. The answer takes it back. */
  onRoom(listener: () => void): () => void;
  /** End what an attempt that is to be declared lost may have left running on this host. */
  endLeftovers(token: string): Promise<void>;
  /** A run is over: end what its attempts left behind on this host, but for what asked to stay. */
  endRun?(run: EndedRun): void;
  close(): Promise<void>;
}
