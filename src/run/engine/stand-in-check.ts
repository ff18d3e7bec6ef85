import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { itemsOf } from "../../core/decide/item-limit.js";
import { misfitOf } from "../../core/decide/output-fit.js";
import type { EvaluationResult, Output } from "../../core/model/events.js";
import type { Job, Run } from "../../core/model/run.js";
import type { Json } from "../../core/text/json.js";
import { type ReadArtifact, valueOfOutput } from "./variables.js";

export interface StandInCheck {
  readonly run: Run;
  readonly job: Job;
  /** What would stand in for the job's own output. */
  readonly output: Output | null;
  readonly readArtifact: ReadArtifact;
}

/**
 * Checks whether that output, and the files beside it, keep what the job's step promises. For a forEach step, the
 * answer is its items.
 */
export function checkStandIn(check: StandInCheck): EvaluationResult {
  const { definition } = check.job.step;
  let value: Json;
  try {
    value = check.output === null ? null : valueOfOutput(check.output, check.readArtifact);
  } catch {
    return refused("OUTPUT_INVALID", "the output that was to stand in cannot be read");
  }
  const misfit = misfitOf(value, definition.outputSchema);
  if (misfit !== null) return refused("OUTPUT_INVALID", misfit);
  const items = definition.forEach ? itemsOf(value) : [];
  if (items === null)
    return refused("OUTPUT_INVALID", "a forEach step's output must be an array, also that of its stand-in");
  const missing = firstMissing(check);
  if (missing !== null) return refused("OUTPUT_MISSING", `nobody has made the output file ${missing}`);
  return { ok: true, value: items as unknown as Json, duration_ms: 0 };
}

function refused(code: string, reason: string): EvaluationResult {
  return { ok: false, code, reason, duration_ms: 0 };
}

/**
 * The first missing file. Relative files of a run without a folder are on the workers and cannot be checked from here.
 */
function firstMissing({ run, job }: StandInCheck): string | null {
  const { files, usesWorkspace } = job.step.definition;
  const folder = usesWorkspace ? (run.workspace.path ?? "") : run.folder;
  const isMissing = (path: string) =>
    isAbsolute(path) ? !existsSync(path) : folder !== "" && !existsSync(join(folder, path));
  return files?.outputs.find(isMissing) ?? null;
}
