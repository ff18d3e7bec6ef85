import type { EvaluationResult } from "../model/events.js";
import { type GraphStep, isAncestor } from "../model/graph.js";
import type { Job, Run } from "../model/run.js";
import { findTarget } from "./run-lists.js";

/** The steps of `run` and `run_js` together, duplicates dropped, order kept; `notes` say what was refused. */
export function collectTargets(
  run: Run,
  job: Job,
  fixed: readonly string[],
  answer: EvaluationResult | undefined,
): { targets: { step: GraphStep }[]; notes: string[] } {
  const notes = answer?.ok === false ? [`run_js refused: ${answer.reason}`] : [];
  const dynamic = answer?.ok === true ? (answer.value as string[]) : [];
  const targets: { step: GraphStep }[] = [];
  for (const step of new Set([...fixed, ...dynamic].flatMap((id) => run.graph.byId.get(id) ?? []))) {
    const target = findTarget(job, step);
    if (target.ok) targets.push(target);
    else notes.push(`${step.definition.id} refused: ${target.reason}`);
  }
  return { targets, notes };
}

export type GotoChoice =
  | { readonly ok: true; readonly target: Job; readonly reason: string }
  | { readonly ok: false; readonly reason: string };

/** `goto_js` with a valid id wins; null or a refusal leaves the static goto in force. */
export function chooseGoto(
  run: Run,
  job: Job,
  fixed: string | null,
  answer: EvaluationResult | undefined,
): GotoChoice {
  let note = "";
  if (answer !== undefined) {
    if (!answer.ok) note = `goto_js refused: ${answer.reason}; `;
    else if (answer.value !== null) {
      const dynamic = findAncestor(run, job, answer.value as string);
      if (dynamic.ok) return { ok: true, target: dynamic.target, reason: "goto_js" };
      note = `goto_js refused: ${dynamic.reason}; `;
    } else note = "goto_js returned null; ";
  }
  if (fixed === null) return { ok: false, reason: `${note}no goto` };
  const found = findAncestor(run, job, fixed);
  return found.ok
    ? { ok: true, target: found.target, reason: `${note}goto` }
    : { ok: false, reason: note + found.reason };
}

function findAncestor(run: Run, job: Job, id: string): GotoChoice {
  const step = run.graph.byId.get(id);
  if (step === undefined) return { ok: false, reason: `there is no step ${id}` };
  if (!isAncestor(step, job.step))
    return { ok: false, reason: `${id} is not a step that ${job.step.definition.id} depends on` };
  const target = job.scope.jobs.get(step);
  // A routed step that a run list has brought into an item is nobody's ancestor there.
  if (target === undefined || step.path.length !== job.scope.depth)
    return { ok: false, reason: `${id} is outside the scope ${job.scope.id}` };
  return { ok: true, target, reason: "" };
}
