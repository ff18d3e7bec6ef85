import type { FailureClass } from "../model/failure.js";

/** What a failure is called and what kind it is. */
export interface FailureKind {
  readonly code: string;
  readonly class: FailureClass;
}

const CLASS_OF_STATUS: ReadonlyMap<number, FailureClass> = new Map([
  [401, "deterministic_policy"],
  [402, "deterministic_policy"],
  [403, "deterministic_policy"],
  [407, "deterministic_policy"],
  [408, "transient_runtime"],
  [423, "transient_runtime"],
  [425, "transient_runtime"],
  [429, "transient_runtime"],
  [451, "deterministic_policy"],
  [501, "deterministic_contract"],
  [505, "deterministic_contract"],
]);

/** The HTTP status is the code; what the table does not name goes by its hundred. */
export function judgeStatus(status: number): FailureKind {
  const byHundred = status >= 500 ? "transient_runtime" : "deterministic_contract";
  return { code: String(status), class: CLASS_OF_STATUS.get(status) ?? byHundred };
}
