import type { Definition } from "../core/definition.js";
import { deepFreeze } from "./freeze.js";
import { type LintFinding, lintDefinition } from "./lint.js";
import { normalise } from "./normalise.js";
import { ROOT, renderSegments } from "./path.js";
import { type Finding, Findings, type Problem, type SyntaxProblem } from "./problem.js";
import type { ReadContext } from "./schema.js";
import { findEntry, Locator, type SourceNode } from "./source-tree.js";
import { validateGraph } from "./validate-graph.js";
import { workflow } from "./workflow-fields.js";
import { readYaml } from "./yaml-tree.js";

export interface LoadOptions {
  /** Shown in problems; its name without the ending is the workflow's default name. */
  readonly file: string;
  readonly checkExpression: (code: string) => SyntaxProblem | null;
  readonly checkTemplate: (template: string) => SyntaxProblem | null;
  /** Types of registered actions beside the built-in ones. */
  readonly customActions?: readonly string[];
}

export type LoadResult =
  | { readonly ok: true; readonly definition: Definition; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** YAML or JSON text into a frozen Definition, or every problem in it at once, sorted by place. */
export function loadDefinition(source: string, options: LoadOptions): LoadResult {
  const findings = new Findings();
  const { root, text } = readYaml(source, findings);
  const toProblems = (found: readonly Finding[]) =>
    found.map((finding) => text.toProblem(finding, options.file)).sort(byPlace);
  const definition =
    root === null ? null : readDefinition(root, workflowName(options.file), { ...options, findings });
  if (root === null || definition === null)
    return deepFreeze({ ok: false, problems: toProblems(findings.errors) });
  const locator = new Locator(root);
  const lint = lintDefinition(definition).map((finding) => placeLint(finding, root, locator));
  return deepFreeze({ ok: true, definition, warnings: toProblems([...findings.warnings, ...lint]) });
}

/** The part that files and the builder share: a source tree into a Definition, or null with errors among the findings. */
export function readDefinition(
  root: SourceNode,
  defaultName: string,
  options: Omit<LoadOptions, "file"> & { findings: Findings },
): Definition | null {
  const { findings, checkExpression, checkTemplate } = options;
  const context: ReadContext = {
    findings,
    checkExpression,
    checkTemplate,
    customActions: new Set(options.customActions ?? []),
  };
  const keys = workflow.read(root, ROOT, context);
  if (keys === undefined) return null;
  const definition = normalise(keys, defaultName, context);
  if (keys.steps !== undefined) {
    const routed = new Set(definition.steps.flatMap((step) => (step.start === "routed" ? [step.id] : [])));
    validateGraph({ entries: keys.steps, stepsAt: stepsPlace(root), routed }, findings);
  }
  return findings.errors.length > 0 ? null : deepFreeze(definition);
}

function stepsPlace(root: SourceNode): number {
  if (root.kind !== "map") return root.at;
  return (findEntry(root, "steps") ?? findEntry(root, "checks"))?.keyAt ?? root.at;
}

function placeLint(finding: LintFinding, root: SourceNode, locator: Locator): Finding {
  const written = root.kind === "map" && findEntry(root, "steps") === undefined ? "checks" : "steps";
  const segments = finding.segments.map((segment, depth) =>
    depth === 0 && segment === "steps" ? written : segment,
  );
  const { code, message, hint } = finding;
  return { code, message, hint, at: locator.locate(segments), path: renderSegments(segments), inside: null };
}

function byPlace(first: Problem, second: Problem): number {
  return first.line - second.line || first.column - second.column;
}

/** `flows/release.yaml` is the workflow `release`. */
function workflowName(file: string): string {
  const base = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
  const dot = base.lastIndexOf(".");
  return (dot > 0 ? base.slice(0, dot) : base) || "workflow";
}
