import { isSamePath } from "../../core/model/fan-out.js";
import type { StepEntry } from "../fields/step-entries.js";
import type { TransitionDraft } from "../fields/transition-fields.js";
import type { Findings } from "../read/problem.js";
import { quote } from "../read/suggest.js";
import { answerAncestors } from "./graph-walks.js";
import type { RouteReference, StepGraph } from "./step-graph.js";
import { renderPath } from "./validate-fan-out.js";

interface KnownRoute extends RouteReference {
  readonly to: number;
}

/** Static `goto` and `run` targets: ancestors, descendants and scopes. Returns the work done. */
export function validateRoutes(
  graph: StepGraph,
  paths: readonly (readonly string[])[],
  routed: ReadonlySet<string>,
  findings: Findings,
): number {
  const known: KnownRoute[] = [];
  for (const route of graph.routes) {
    const to = graph.indexOf.get(route.target.value);
    if (to !== undefined) known.push({ ...route, to });
  }
  const back = answerAncestors(
    graph.order,
    known.map(({ from, to }) => ({ ancestor: to, descendant: from })),
  );
  const ahead = answerAncestors(
    graph.order,
    known.map(({ from, to }) => ({ ancestor: from, descendant: to })),
  );
  known.forEach((route, at) => {
    const isAncestor = back.answers[at]!;
    const isDescendant = ahead.answers[at]!;
    if (route.kind === "goto") checkGoto(route, isAncestor, isDescendant, graph, paths, findings);
    else checkRun(route, isDescendant, graph, paths, routed, findings);
  });
  return back.work + ahead.work;
}

function checkGoto(
  route: KnownRoute,
  isAncestor: boolean,
  isDescendant: boolean,
  graph: StepGraph,
  paths: readonly (readonly string[])[],
  findings: Findings,
): undefined {
  const { from, to, target } = route;
  const place = { at: target.at, path: target.path };
  const source = graph.entries[from]!.id;
  if (from === to) {
    const message = `the goto of ${quote(source)} names the step itself`;
    return findings.error({
      code: "GOTO_NOT_ANCESTOR",
      message,
      hint: "Use `on_fail.retry` to run the same step again.",
      ...place,
    });
  }
  if (graph.doubtful[from] === 1 || graph.doubtful[to] === 1) return;
  if (!isAncestor) {
    const message = `the goto of ${quote(source)} names ${quote(target.value)}, which is not an ancestor`;
    const hint = isDescendant
      ? `\`${target.value}\` depends on \`${source}\`: a goto only jumps back.`
      : `Add \`${target.value}\` to the depends_on of \`${source}\`, or of a step it depends on.`;
    return findings.error({ code: "GOTO_NOT_ANCESTOR", message, hint, ...place });
  }
  if (!isSamePath(paths[from]!, paths[to]!)) reportCrossScope(route, source, paths, findings);
}

function checkRun(
  route: KnownRoute,
  isDescendant: boolean,
  graph: StepGraph,
  paths: readonly (readonly string[])[],
  routed: ReadonlySet<string>,
  findings: Findings,
): undefined {
  const { from, to, target, on } = route;
  const place = { at: target.at, path: target.path };
  const source = graph.entries[from]!.id;
  if (from === to) {
    const hint =
      on === "on_fail"
        ? "Use `on_fail.retry` to run the same step again."
        : "Use `on_success.goto` to an ancestor to repeat steps.";
    return findings.error({
      code: "RUN_TARGET",
      message: `the run list of ${quote(source)} names the step itself`,
      hint,
      ...place,
    });
  }
  if (isDescendant) {
    const message = `the run list of ${quote(source)} names ${quote(target.value)}, which depends on it`;
    return findings.error({ code: "RUN_TARGET", message, ...place });
  }
  if (graph.doubtful[from] === 1 || graph.doubtful[to] === 1) return;
  // A routed step that depends on nothing belongs to every scope that routes to it.
  if (routed.has(target.value) && graph.groups[to]!.length === 0) return;
  if (!isSamePath(paths[from]!, paths[to]!)) reportCrossScope(route, source, paths, findings);
}

function reportCrossScope(
  route: KnownRoute,
  source: string,
  paths: readonly (readonly string[])[],
  findings: Findings,
): undefined {
  const { from, to, target, kind } = route;
  const message = `the ${kind} of ${quote(source)} (in ${renderPath(paths[from]!)}) leaves its scope: ${quote(target.value)} is in ${renderPath(paths[to]!)}`;
  findings.error({ code: "CROSS_SCOPE", message, at: target.at, path: target.path });
}

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
