import type { AttemptPlace } from "../../core/model/worker-names.js";
import type { Action } from "../../run/action/action.js";
import type { ProcessHost } from "../../run/process/process-host.js";
import type { TimerPort } from "../../run/worker/attempt-timers.js";
import type { Stay } from "./worker-life.js";

export interface RemoteWorkerOptions {
  /** The servers, tried in turn. */
  readonly servers: readonly string[];
  readonly token: string | null;
  readonly name: string;
  readonly slots: number;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Names of GPUs, in the form of CUDA_VISIBLE_DEVICES. */
  readonly gpus?: readonly string[];
  /** The number of machines in its allocation. With more than one it only takes steps that ask for as many. */
  readonly nodes?: number;
  readonly tags: readonly string[];
  /** Its location in the records of its attempts. */
  readonly at?: AttemptPlace;
  /** When it leaves by itself. */
  readonly stay?: Stay;
  readonly actions: readonly Action[];
  /** The folder for logs and outputs, in a subfolder named after this worker, until the server has them. */
  readonly outputDir: string;
  readonly env?: { readonly [name: string]: string | undefined };
  /** Aborted by a signal to its process: take nothing new, finish running attempts, deliver them and leave. */
  readonly drain: AbortSignal;
  /** Aborted to end running attempts and leave. */
  readonly end: AbortSignal;
  /** The host that starts its processes. Without it, signals to these are not noticed. */
  readonly processes?: Pick<ProcessHost, "stops">;
  readonly log: (line: string) => void;
  readonly clock: TimerPort;
}
