import type { RunCause } from "../../core/model/events.js";
import type { Json } from "../../core/text/json.js";
import type { Labels } from "../../core/text/labels.js";
import type { ReuseRequest } from "../reuse/reuse-run.js";

export interface StartOptions {
  readonly inputs?: { readonly [name: string]: Json };
  /** More variables for expressions and templates, such as `pr` and `files`. */
  readonly context?: { readonly [name: string]: Json };
  /** Labels in addition to the workflow's. For equal keys, these take precedence. */
  readonly labels?: Labels;
  /** Instead of the workflow's. */
  readonly priority?: number;
  readonly maxLoops?: number;
  readonly retryMax?: number;
  readonly failureRouting?: boolean;
  readonly only?: string;
  /** A completed run with a handled failure exits with 1, and reports tell it as a failure. */
  readonly strict?: boolean;
  /** Go on from a step of another run: what came before it there is not done again. */
  readonly fork?: { readonly run: number; readonly step: string; readonly reason?: string };
  /** Take over what has not changed since another run, such as the last of the workflow that completed. */
  readonly reuse?: ReuseRequest;
  /** With `reuse` or `fork`: also reuses jobs for which another step stood in, and what depends on them. */
  readonly keepStoodIn?: boolean;
  readonly parent?: { readonly runId: number; readonly jobId: number };
  /** Servers go on with it by themselves. */
  readonly managed?: boolean;
  /** Started with the same key before: that run is gone on with, and no other begins. */
  readonly key?: string;
  /** The cause, instead of a key, for what starts runs automatically. */
  readonly cause?: RunCause;
}
