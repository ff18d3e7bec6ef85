import type { Action } from "../action/action.js";
import type { Workspaces } from "../workspace/workspaces.js";
import type { TimerPort } from "./attempt-timers.js";
import type { Extent } from "./local-room.js";
import type { LocalStops } from "./local-stops.js";

export interface LocalWorkerOptions {
  readonly actions: readonly Action[];
  /** Where logs and artifacts go. */
  readonly outputDir: string;
  readonly clock: TimerPort;
  /** Slots; by default the number of cores. 0: only steps that take none, such as child runs. */
  readonly maxParallel?: number;
  /** What else steps may ask for; by default what this machine, or this process's part of it, has. */
  readonly machine?: Extent & { readonly nodes: number };
  /** What steps with `runs_on` may ask for. */
  readonly tags?: readonly string[];
  readonly env?: { readonly [name: string]: string | undefined };
  /** Those of the runs whose files lie in the same output folder. */
  readonly workspaces?: Workspaces;
  /** For $DARUMA_API_URL; empty where there is no server. A server knows its own only once it listens. */
  readonly apiUrl?: string | (() => string);
  /** Knows the signals that come to steps and to this process alike. Missing: whoever gets the reports knows them. */
  readonly stops?: LocalStops;
  /** People are told what the machine lacks, while attempts wait for it. */
  readonly tell?: (text: string) => void;
}

/** What an attempt, or its recovery script, prints; redacted. */
export interface OutputPiece {
  readonly jobId: number;
  readonly step: string;
  readonly recovery: boolean;
  readonly stream: "stdout" | "stderr";
  /** Null: there is no more. */
  readonly bytes: Uint8Array | null;
}
