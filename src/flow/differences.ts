import { DarumaError } from "../core/errors/errors.js";
import type { FailureFacts } from "../core/model/failure.js";
import type { Job } from "../core/model/run.js";
import { NotJson } from "../core/text/json.js";
import { StepFailed } from "./flow-errors.js";

/** A call as a person reads of it. */
interface NewCall {
  readonly id: string;
  readonly source: string | null;
}

export function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}

export function nameInUse(name: string): DarumaError {
  return new DarumaError("NAME_IN_USE", `${name} is called while an earlier call of that name is open`);
}

/** The step whose failure an error is, or has as its cause. */
function stepBehind(error: unknown): StepFailed | null {
  const seen = new Set<unknown>();
  for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
    if (at instanceof StepFailed) return at;
    seen.add(at);
  }
  return null;
}

function at(source: string | null): string {
  return source === null ? "" : `, ${source}`;
}

export function difference(was: Job, now: NewCall): string {
  const name = was.step.definition.id;
  return `here the run had called ${name} (${was.status}${at(was.call?.source ?? null)}), and the program now calls ${now.id}${now.source === null ? "" : ` (${now.source})`}, which the run does not know. If it is ${name} under a new name, say was: "${name}"; if it is new, say added: true; or run the program as it was. Then retry`;
}

export function otherKind(job: Job, { id, source }: NewCall, was: string, now: string): string {
  return `${id} is on record as ${was} (${job.status}${at(job.call?.source ?? null)}), and the program now calls it as ${now}${source === null ? "" : ` (${source})`}. Give it another name and say added: true; or run the program as it was. Then retry`;
}

/** What is known of the error that a program has ended with, perhaps that of a step, or one that has it as its cause. */
export function factsOf(error: unknown): FailureFacts {
  const step = stepBehind(error);
  const { message, stack, code, retryable } = Object(error) as Error & {
    readonly code?: unknown;
    readonly retryable?: unknown;
  };
  const known = step?.code ?? (typeof code === "string" ? code : "FLOW_FAILED");
  // To run the program again would only give it the same outcomes.
  const isFinal = step !== null || error instanceof NotJson || error instanceof DarumaError;
  return {
    message: typeof message === "string" ? message : String(error),
    ...(typeof stack === "string" && step === null ? { stack } : {}),
    ...(step === null ? {} : { because: step.jobId }),
    declared: {
      code: error instanceof NotJson ? "OUTPUT_INVALID" : known,
      ...(isFinal ? { retryable: false } : typeof retryable === "boolean" ? { retryable } : {}),
    },
  };
}
