import { DarumaError, ERROR_CATALOGUE } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import type { RunCause } from "../../core/model/events.js";
import type { Json } from "../../core/text/json.js";
import type { Labels } from "../../core/text/labels.js";
import { resolveInputs } from "../../file/check/validate-inputs.js";
import type { ReuseRequest } from "../reuse/reuse-run.js";

export interface StartOptions {
  readonly inputs?: { readonly [name: string]: Json } | undefined;
  /** More variables for expressions and templates, such as `pr` and `files`. */
  readonly context?: { readonly [name: string]: Json } | undefined;
  /** Labels in addition to the workflow's. For equal keys, these take precedence. */
  readonly labels?: Labels | undefined;
  /** Instead of the workflow's. */
  readonly priority?: number | undefined;
  readonly maxLoops?: number | undefined;
  readonly retryMax?: number | undefined;
  readonly failureRouting?: boolean | undefined;
  readonly only?: string | undefined;
  /** A completed run with a handled failure exits with 1, and reports tell it as a failure. */
  readonly strict?: boolean | undefined;
  /** Go on from a step of another run: what came before it there is not done again. */
  readonly fork?:
    | { readonly run: number; readonly step: string; readonly reason?: string | undefined }
    | undefined;
  /** Take over what has not changed since another run, such as the last of the workflow that completed. */
  readonly reuse?: ReuseRequest | undefined;
  /** With `reuse` or `fork`: also reuses jobs for which another step stood in, and what depends on them. */
  readonly keepStoodIn?: boolean | undefined;
  readonly parent?: { readonly runId: number; readonly jobId: number } | undefined;
  /** Servers go on with it by themselves. */
  readonly managed?: boolean | undefined;
  /** Started with the same key before: that run is gone on with, and no other begins. */
  readonly key?: string | undefined;
  /** The cause, instead of a key, for what starts runs automatically. */
  readonly cause?: RunCause | undefined;
}

/** The inputs that a run would have: with defaults, in the types that the workflow declares. */
export function checkedInputs(
  definition: Definition,
  given: { readonly [name: string]: Json },
): { readonly [name: string]: Json } {
  const resolved = resolveInputs(definition, given);
  if (resolved.ok) return resolved.inputs;
  const { problems } = resolved;
  const errors = problems.map(({ input, message }) => ({ path: `inputs.${input}`, message }));
  const typed = [...new Set(problems.map(({ hint }) => hint))].join(" ");
  throw new DarumaError("INVALID_INPUT", problems.map(({ message }) => message).join("; "), {
    hint: { typed, asked: ERROR_CATALOGUE.INVALID_INPUT.asked },
    details: { errors },
  });
}
