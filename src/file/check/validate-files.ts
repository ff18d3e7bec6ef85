import type { StepEntry } from "../fields/step-entries.js";
import type { TransitionDraft } from "../fields/transition-fields.js";
import type { Findings } from "../read/problem.js";

/** `files` of gotos and transitions is about the files of a workspace: without one it could not be honoured. */
export function validateFiles(
  entries: readonly StepEntry[],
  transitions: readonly TransitionDraft[],
  findings: Findings,
): void {
  const given = [
    ...entries.flatMap(({ raw }) => [raw?.keys.on_fail?.goto?.files, raw?.keys.on_success?.goto?.files]),
    ...transitions.map(({ files }) => files),
  ];
  for (const files of new Set(given)) {
    if (files === undefined) continue;
    const message = "`files` is about the files of a workspace, and this workflow has none";
    const hint = "Add `workspace: { repo: . }`, or remove `files`.";
    findings.error({ code: "INVALID_VALUE", message, hint, at: files.at, path: files.path });
  }
}
