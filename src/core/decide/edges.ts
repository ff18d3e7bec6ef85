import type { EdgeConsidered } from "../model/events.js";
import { resolve } from "../model/gate.js";
import type { Edge } from "../model/graph.js";
import { isSettled, type Job, type Run, routedAttempt } from "../model/run.js";
import { lastErrorSeenBy, seenError } from "../model/seen-error.js";
import type { Json } from "../text/json.js";
import { readyAfterIf } from "./ask.js";
import { evaluateCondition, lookupPath } from "./conditions.js";
import type { Decision } from "./decision.js";
import { openBarrierOver } from "./goto.js";
import { isFreelyRouted, jobsOf } from "./targets.js";

export type EdgeChoice =
  | { readonly kind: "ask"; readonly code: string }
  | { readonly kind: "none"; readonly considered: readonly EdgeConsidered[] }
  | {
      readonly kind: "edge";
      readonly edge: Edge;
      readonly considered: readonly EdgeConsidered[];
      readonly status: "selected" | "already_scheduled";
      /** The target has settled before: going there again is a routing transition of the scope. */
      readonly counted: boolean;
    };

/** The first transition for this outcome whose condition holds, or the expression that must be evaluated first. */
export function chooseEdge(run: Run, job: Job, outcome: "success" | "failure"): EdgeChoice {
  const considered: EdgeConsidered[] = [];
  const edges = outcome === "success" ? job.step.successEdges : job.step.failureEdges;
  for (const edge of edges) {
    const note = (matched: boolean, why: string) =>
      considered.push({ edge: edge.definition.id, to: edge.to.definition.id, matched, why });
    const target = job.scope.jobs.get(edge.to);
    if (target === undefined && !isFreelyRouted(edge.to)) {
      note(false, `outside the scope ${job.scope.id}`);
      continue;
    }
    const { when } = edge.definition;
    if (when !== null) {
      const verdict = evaluateCondition(
        when,
        (path) => lookup(run, job, path),
        (code) => answerOf(job, code),
      );
      if (verdict.kind === "ask") return { kind: "ask", code: verdict.code };
      if (verdict.kind === "false") {
        note(false, verdict.why);
        continue;
      }
      note(true, verdict.why);
    } else note(true, "unconditional");
    const fresh = target === undefined || isFresh(target);
    const counted = !fresh && isSettled(target.status);
    return {
      kind: "edge",
      edge,
      considered,
      status: fresh || counted ? "selected" : "already_scheduled",
      counted,
    };
  }
  return { kind: "none", considered };
}

/** It has not begun and nobody has asked for it. */
function isFresh(job: Job): boolean {
  return job.status === "blocked" && !job.entered && job.barrier === null && job.evaluation === null;
}

function answerOf(job: Job, code: string): boolean | { refused: string } | undefined {
  const answer = job.conditionAnswers[code];
  if (answer === undefined) return undefined;
  return answer.ok ? answer.value === true : { refused: answer.reason };
}

/** What a condition's field means to a job. Outputs too large for the log are out of a condition's reach. */
function lookup(run: Run, job: Job, path: string): Json | undefined {
  const root = path.split(/[.[]/, 1)[0];
  if (root === "inputs") return lookupPath({ inputs: run.inputs }, path);
  if (root === "state") return lookupPath({ state: { _last_error: lastErrorSeenBy(job) } }, path);
  if (root === "error")
    return lookupPath(
      { error: job.status === "completed" || job.error === null ? null : seenError(job.error) },
      path,
    );
  if (root !== "outputs") return undefined;
  const outputs: { [id: string]: Json } = {};
  // A step's id may hold dots: every name that the path can begin with is tried.
  const words = path.slice("outputs.".length).split(/[.[]/);
  for (let count = 1; count <= words.length; count += 1) {
    const id = words.slice(0, count).join(".");
    const step = run.graph.byId.get(id);
    const output = step === undefined ? null : resolve(step, job.scope)?.output;
    if (output?.kind === "value") outputs[id] = output.value;
  }
  return lookupPath({ outputs }, path);
}

/**
 * Follows an edge. A target that has not begun is released; a settled one begins again, with everything that depends on
 * it.
 */
export function takeEdge(
  decision: Decision,
  source: Job,
  choice: Extract<EdgeChoice, { kind: "edge" }>,
  on: "success" | "failure",
): void {
  const [target] = jobsOf(decision, source, [{ step: choice.edge.to }]);
  decision.emit({
    type: "edge.taken",
    job: source.id,
    attempt: routedAttempt(source),
    edge: choice.edge.definition.id,
    target: target!.id,
    to: choice.edge.to.definition.id,
    on,
    status: choice.status,
    ...(on === "failure" ? { then: choice.edge.definition.then ?? "skip" } : {}),
    counted: choice.counted,
    loop: choice.counted ? source.scope.loops + 1 : null,
    considered: choice.considered,
  });
  if (choice.status === "already_scheduled") return finishFailure(decision, source, on);
  if (choice.counted)
    openBarrierOver(decision, target!, {
      forced: true,
      from: on === "failure" ? source.id : null,
      edge: choice.edge.definition.id,
      files: choice.edge.definition.files ?? "keep",
    });
  else readyAfterIf(decision, target!, "edge");
  finishFailure(decision, source, on);
}

/** Ends the failure of a job for which a run list may be waiting, unless an edge back has restarted the job. */
function finishFailure(decision: Decision, source: Job, on: "success" | "failure"): void {
  if (on === "failure")
    decision.add(() => {
      if (source.status === "failed") decision.add({ kind: "settled", jobs: [source] });
    });
}
