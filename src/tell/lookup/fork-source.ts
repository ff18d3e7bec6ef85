import { DarumaError } from "../../core/errors/errors.js";
import { undoneJobs } from "../../core/model/ending/run-ending.js";
import { type Graph, type GraphStep, isAncestor } from "../../core/model/graph.js";
import type { Job, Run } from "../../core/model/run.js";
import type { Labels } from "../../core/text/labels.js";

/**
 * What a run forked at `step` need not do again: every completed job that neither is the step nor depends on it, as
 * long as the (perhaps newer) workflow still has its step. A step that writes ephemeral user data or that the old run has
 * undone is done again, and what depends on it; so is one that another step stood in for, unless it is to be kept, and what
 * the failure of a step that is done again had entered.
 */
export function reusableJobs(old: Run, step: string, graph: Graph, keepStoodIn = false): Job[] {
  const from = graph.byId.get(step);
  if (from === undefined) throw new DarumaError("STEP_NOT_FOUND", `the workflow has no step ${step}`);
  const kept = keptWithFiles(old, from, graph);
  if (kept !== null) throw notWithFiles(step, kept);
  return reusable(old, from, graph, keepStoodIn);
}

function reusable(old: Run, from: GraphStep, graph: Graph, keepStoodIn = false): Job[] {
  const now = ({ step }: Job) => graph.byId.get(step.definition.id) ?? [];
  const undone = undoneJobs(old).flatMap(now);
  const isKept = ({ stoodInBy: by }: Job) =>
    keepStoodIn && by !== null && graph.byId.get(by.step.definition.id)?.path.length === by.scope.depth;
  const present = presentJobs(old);
  const sources = present.flatMap(sourcesOf);
  const stoodIn = present.filter(({ stoodInBy }) => stoodInBy !== null);
  const lost = [...stoodIn, ...sources].filter((job) => job.status !== "completed" && !isKept(job));
  const again = stepsDoneAgain([from, ...undone, ...lost.flatMap(now)], graph, partners(old, graph));
  return present.filter((job) => {
    const now = graph.byId.get(job.step.definition.id);
    if (now === undefined || now.atEnd !== null || again.has(now)) return false;
    const isDone = job.status === "completed" || job.stoodInBy !== null;
    return isDone && job.output !== null;
  });
}

/** Without the past items of a list that was made again. */
function presentJobs({ jobs }: Run): readonly Job[] {
  return jobs.filter(({ scope }) => scope.open);
}

function sourcesOf({ routedHere }: Job): readonly Job[] {
  return [...routedHere].filter(({ scope }) => scope.open);
}

/**
 * Steps that are repeated together with a step although they do not depend on it. What a failure has entered is skipped
 * in a run in which the step succeeds, and what comes before that step did not run because of the failure. If another
 * step stood in for it, that is all that the fork would have of it.
 */
function partners(old: Run, { byId }: Graph): ReadonlyMap<GraphStep, readonly GraphStep[]> {
  const found = new Map<GraphStep, GraphStep[]>();
  const link = (one: Job, other: Job) => {
    const [step, partner] = [one, other].map((job) => byId.get(job.step.definition.id));
    if (step === undefined || partner === undefined || isAncestor(partner, step)) return;
    found.set(step, [...(found.get(step) ?? []), partner]);
  };
  for (const job of presentJobs(old)) {
    for (const source of sourcesOf(job)) link(source, job);
    if (job.stoodInBy !== null) link(job.stoodInBy, job);
  }
  return found;
}

function stepsDoneAgain(
  from: readonly GraphStep[],
  { steps }: Graph,
  partners: ReadonlyMap<GraphStep, readonly GraphStep[]>,
): ReadonlySet<GraphStep> {
  const again = new Set([...from, ...steps.filter(({ definition }) => definition.userData?.ephemeral)]);
  for (const step of again) {
    for (const dependent of step.dependents) again.add(dependent.step);
    for (const partner of partners.get(step) ?? []) again.add(partner);
  }
  return again;
}

/** A step that a fork would not do again, although what it did to the files is in the other run's workspace. */
function keptWithFiles(old: Run, from: GraphStep, graph: Graph): string | null {
  const kept = reusable(old, from, graph).map((job) => graph.byId.get(job.step.definition.id)!.definition);
  return kept.find(({ usesWorkspace }) => usesWorkspace)?.id ?? null;
}

/** Its output could be taken over, but what it did to the files is in the other run's workspace. */
function notWithFiles(from: string, kept: string): DarumaError {
  return new DarumaError(
    "WORKSPACE_FORK",
    `a fork at ${from} would not have the files that ${kept} has left in the workspace of the run`,
  );
}

/**
 * Where a fork must begin so that this step runs again: at the step itself or, if files of the workspace would be
 * missing, at the nearest earlier step that makes them. Null if only a new run repeats it.
 */
export function forkableStep(run: Run, step: string): string | null {
  const target = run.graph.byId.get(step);
  if (target === undefined) return null;
  const before = run.definition.steps
    .map(({ id }) => run.graph.byId.get(id)!)
    .filter((each) => isAncestor(each, target))
    .reverse();
  for (const each of [target, ...before])
    if (keptWithFiles(run, each, run.graph) === null) return each.definition.id;
  return null;
}

/** Labels of the run that do not come from its file. */
export function givenLabels({ labels, definition }: Pick<Run, "labels" | "definition">): Labels {
  return Object.fromEntries(
    Object.entries(labels).filter(([key, value]) => definition.labels?.[key] !== value),
  );
}
