import type { Action } from "../../action/action.js";
import type { ProcessHost } from "../../action/process/process-host.js";
import type { AttemptPlace } from "../../core/model/worker-names.js";
import type { TimerPort } from "../attempt-timers.js";
import type { Stay } from "./worker-life.js";

export interface RemoteWorkerOptions {
  /** Tried in turn. */
  readonly servers: readonly string[];
  readonly token: string | null;
  readonly name: string;
  readonly slots: number;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Names of graphics processors, as CUDA_VISIBLE_DEVICES takes them. */
  readonly gpus?: readonly string[];
  /** Machines of its allocation: with more than one it takes only steps that ask for as many. */
  readonly nodes?: number;
  readonly tags: readonly string[];
  /** Where it runs, as its attempts say. */
  readonly at?: AttemptPlace;
  /** When it leaves by itself. */
  readonly stay?: Stay;
  readonly actions: readonly Action[];
  /** Logs and outputs lie below it, in a folder of this worker's name, until the server has them. */
  readonly outputDir: string;
  readonly env?: { readonly [name: string]: string | undefined };
  /** Aborted, by a signal to its process: take nothing new, finish what runs, deliver it, leave. */
  readonly drain: AbortSignal;
  /** Aborted: end what runs and leave. */
  readonly end: AbortSignal;
  /** What starts its processes; without it nobody sees signals that go to them. */
  readonly processes?: Pick<ProcessHost, "stops">;
  readonly log: (line: string) => void;
  readonly clock: TimerPort;
}
