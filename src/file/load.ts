import type { Definition } from "../core/model/definition.js";
import { addActionSteps } from "./batch/action-steps.js";
import { type ExpandedBatch, expandJobs } from "./batch/expand-jobs.js";
import { type FileSchedulers, fileSchedulers } from "./batch/job-schedulers.js";
import { withoutNullKeys, withVariables } from "./batch/raw-tree.js";
import { KnownNames } from "./check/references/check-names.js";
import { warnOfShells } from "./check/shell/shell-stops.js";
import { validateGraph } from "./check/validate-graph.js";
import { validateStarts } from "./check/validate-inputs.js";
import { validateReachability } from "./check/validate-reachability.js";
import { validateFiles } from "./check/validate-routes.js";
import type { StepEntry } from "./fields/step-entries.js";
import { transitionsInSteps } from "./fields/transition-fields.js";
import { BATCH_KEYS, isBatchForm, workflow } from "./fields/workflow-fields.js";
import { lintDefinition } from "./lint/lint.js";
import type { LintFinding } from "./lint/lint-finding.js";
import { linkProducers } from "./normalise/link-producers.js";
import { endingTargets, normalise, routedTargets, type WorkflowKeys } from "./normalise/normalise.js";
import { DEFAULTS_PATH, withDefaults } from "./on-fail-defaults.js";
import { deepFreeze } from "./read/freeze.js";
import { childPath, pathSegments, ROOT, renderSegments } from "./read/path.js";
import type { NameFinder } from "./read/placed-text.js";
import type { Finding, Findings, Problem, SyntaxProblem } from "./read/problem.js";
import type { ReadContext } from "./read/schema.js";
import { readText } from "./read/source-document.js";
import { findEntry, Locator, type SourceEntry, type SourceNode } from "./read/source-tree.js";
import { quote } from "./read/suggest.js";
import type { WorkflowAsRead } from "./survey.js";

export interface LoadOptions {
  /** Shown in problems; its name without the ending is the workflow's default name. */
  readonly file: string;
  readonly checkExpression: (code: string) => SyntaxProblem | null;
  readonly checkTemplate: (template: string) => SyntaxProblem | null;
  /** Compiles regular expressions over names; without it they are refused. */
  readonly compilePattern?: ReadContext["compilePattern"];
  /** Looks up what expressions and templates read; without it their names are not checked. */
  readonly findNames?: NameFinder;
  /** Types of registered actions beside the built-in ones. */
  readonly customActions?: readonly string[];
  /** Names of the breakers of the settings, which steps may use. */
  readonly sharedBreakers?: readonly string[];
  /** Names of the channels of the settings; without them a rule of `notify` may name any. */
  readonly channelNames?: readonly string[];
  /** Told what could be read, also where there are problems. */
  readonly onRead?: (read: WorkflowAsRead) => void;
}

export type LoadResult =
  | { readonly ok: true; readonly definition: Definition; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** YAML, JSON or JSON5 text into a frozen Definition, or every problem in it at once, sorted by place. */
export function loadDefinition(source: string, options: LoadOptions): LoadResult {
  const loaded = readText(source, options.file, (root, findings) => {
    const read = readDefinition(root, workflowName(options.file), { ...options, findings });
    if (read !== null)
      findings.warnings.push(...placeLint(lintDefinition(read.definition), root, read.entries));
    return read?.definition ?? null;
  });
  return loaded.ok ? { ok: true, definition: loaded.value, warnings: loaded.warnings } : loaded;
}

interface ReadWorkflow {
  readonly definition: Definition;
  /** The steps with their places in the file. */
  readonly entries: readonly StepEntry[];
}

/** The part that files and the builder share: a source tree into a Definition, or null with errors among the findings. */
export function readDefinition(
  given: SourceNode,
  defaultName: string,
  options: Omit<LoadOptions, "file"> & { findings: Findings },
): ReadWorkflow | null {
  const { findings, checkExpression, checkTemplate } = options;
  const context: ReadContext = {
    findings,
    checkExpression,
    checkTemplate,
    compilePattern: options.compilePattern ?? refusePattern,
    customActions: new Set(options.customActions ?? []),
    sharedBreakers: options.sharedBreakers ?? [],
    ...(options.channelNames === undefined ? {} : { channelNames: options.channelNames }),
    findNames: options.findNames ?? null,
    texts: [],
  };
  const root = isBatchForm(given) ? withVariables(withoutNullKeys(given), findings) : given;
  const fileKeys = workflow.read(root, ROOT, context);
  if (fileKeys === undefined) return null;
  const read = readEntries(fileKeys, root, context);
  const written = read && linkProducers(read.entries, context);
  const keys = withTransitionsInSteps(fileKeys, written ?? []);
  const own =
    written &&
    withDefaults(written, keys.routing?.defaults?.on_fail, endingTargets(keys, written), root, context);
  const entries = own && addActionSteps(own, read.actions, routedTargets(keys, own), context);
  const schedulers = entries && fileSchedulers(keys, read, entries, context);
  const plain = normalise(keys, { userData: {}, ...read, entries: entries ?? [] }, defaultName, context);
  const definition = withSchedulers(plain, schedulers);
  const starts = { schedules: keys.schedule ?? [], webhook: keys.triggers?.webhook };
  validateStarts(starts, definition, findings);
  if (entries !== null) {
    const routed = new Set(definition.steps.flatMap((step) => (step.start === "routed" ? [step.id] : [])));
    const transitions = keys.transitions ?? [];
    const known = knownNames(keys, definition, entries, context);
    validateGraph(
      {
        entries,
        stepsAt: stepsPlace(root),
        routed,
        transitions,
        finally: keys.finally ?? [],
        texts: context.texts,
        known,
      },
      findings,
    );
    if (definition.workspace === null) validateFiles(entries, transitions, findings);
    warnOfShells(entries, definition.steps, findings);
    options.onRead?.({ root, definition, entries, transitions });
  }
  if (entries === null || findings.errors.length > 0) return null;
  validateReachability(definition, entries, findings);
  if (findings.errors.length > 0) return null;
  return { definition: deepFreeze(definition), entries };
}

function withTransitionsInSteps(keys: WorkflowKeys, entries: readonly StepEntry[]): WorkflowKeys {
  const inSteps = transitionsInSteps(entries);
  return inSteps.length === 0 ? keys : { ...keys, transitions: [...(keys.transitions ?? []), ...inSteps] };
}

function withSchedulers(definition: Definition, schedulers: FileSchedulers | null): Definition {
  if (schedulers === null) return definition;
  const { steps, ...rest } = definition;
  const of = (id: string) => schedulers.of.get(id);
  return {
    ...rest,
    schedulers: schedulers.requests,
    steps: steps.map((step) => {
      const scheduler = step.runsOn.length > 0 ? undefined : of(step.id);
      return scheduler === undefined ? step : { ...step, scheduler };
    }),
  };
}

function refusePattern(): SyntaxProblem {
  return { message: "nothing here can match them" };
}

/** The steps of the file, whichever of its two forms it has; null where they are missing or could not be read. */
function readEntries(keys: WorkflowKeys, root: SourceNode, context: ReadContext): ExpandedBatch | null {
  const written = (key: string) => (root.kind === "map" ? findEntry(root, key) : undefined);
  const steps = written("steps") ?? written("checks");
  const jobs = written("jobs");
  if (steps !== undefined && jobs !== undefined) {
    const message = `${quote(steps.key)} and \`jobs\` cannot be combined: a file uses one of the two forms`;
    const hint = "Move the jobs to the steps, or the steps to the jobs.";
    context.findings.error({
      code: "INVALID_VALUE",
      message,
      hint,
      at: jobs.keyAt,
      path: childPath(ROOT, "jobs"),
    });
    return null;
  }
  if (steps === undefined && jobs === undefined) {
    const message = "the key `steps` is missing";
    const hint = "Add `steps`: a map of steps (`id: {...}`).";
    context.findings.error({ code: "MISSING_KEY", message, hint, at: root.at, path: ROOT });
    return null;
  }
  if (jobs !== undefined)
    return keys.jobs === undefined ? null : expandJobs({ ...keys, jobs: keys.jobs }, context);
  for (const key of BATCH_KEYS) {
    const entry = written(key);
    if (entry !== undefined) refuseBatchKey(entry, context);
  }
  return keys.steps === undefined
    ? null
    : { entries: keys.steps, userData: {}, named: new Map(), actions: [] };
}

const BATCH_HINTS = new Map([
  ["use_pending_failed", "Write `unhandled: hold`."],
  ["cwd", "Steps start at the file's folder; a step may have a `cwd` of its own."],
]);

function refuseBatchKey({ key, keyAt }: SourceEntry, { findings }: ReadContext): void {
  const message = `${quote(key)} is a key of the batch form, beside \`jobs\``;
  const hint = BATCH_HINTS.get(key) ?? "Remove it, or write the steps as `jobs`.";
  findings.error({ code: "UNKNOWN_KEY", message, hint, at: keyAt, path: childPath(ROOT, key) });
}

function knownNames(
  keys: WorkflowKeys,
  { secrets }: Definition,
  entries: readonly StepEntry[],
  { findNames }: ReadContext,
): KnownNames {
  const env = new Set(
    [keys.env, ...entries.map(({ raw }) => raw?.keys.env)].flatMap((map) => [...(map?.keys() ?? [])]),
  );
  for (const secret of secrets) env.delete(secret);
  const file = {
    steps: new Set(entries.map(({ id }) => id)),
    inputs: keys.inputs ?? new Map(),
    plainInputs: new Set(
      [...(keys.inputs ?? [])].flatMap(([name, { type }]) =>
        type === "number" || type === "boolean" ? [name] : [],
      ),
    ),
    env,
    context: new Set(keys.context),
  };
  return new KnownNames(file, findNames?.globals ?? new Map());
}

function stepsPlace(root: SourceNode): number {
  if (root.kind !== "map") return root.at;
  const entry = findEntry(root, "steps") ?? findEntry(root, "checks") ?? findEntry(root, "jobs");
  return entry?.keyAt ?? root.at;
}

/** Lint speaks of steps by id and of keys whether written or not; here it gets the places of the file. */
function placeLint(
  findings: readonly LintFinding[],
  root: SourceNode,
  entries: readonly StepEntry[],
): Finding[] {
  if (findings.length === 0) return [];
  const locator = new Locator(root);
  const pathOf = new Map(entries.map((entry) => [entry.id, entry.path]));
  const seen = new Set<string>();
  return findings.flatMap(({ code, message, hint, segments: given }): Finding[] => {
    const [top, id, ...rest] = given;
    const ofStep = top === "steps" && pathOf.get(String(id));
    const own = ofStep ? [...pathSegments(ofStep), ...rest] : given;
    const byDefault = ofStep && !locator.has(own) ? defaultOf(rest, locator) : null;
    const segments = byDefault ?? own;
    const isLeftOut = root.kind === "map" && findEntry(root, String(segments[0])) === undefined;
    const at = locator.locate(segments);
    // One job of the list, or one default, stands for thousands of steps, which all have the same to say.
    const isShared = byDefault !== null || (ofStep && segments[0] === "jobs");
    const said = byDefault === null ? "" : message.replaceAll(quote(String(id)), "");
    const identity = isShared ? `${code} ${renderSegments(segments)} ${said}` : null;
    if (isLeftOut || (identity !== null && seen.has(identity))) return [];
    if (identity !== null) seen.add(identity);
    return [{ code, message, hint, at, path: renderSegments(segments), inside: null }];
  });
}

/** The path in `routing.defaults` for a key that the step does not have. */
function defaultOf(ofStep: LintFinding["segments"], locator: Locator): LintFinding["segments"] | null {
  if (ofStep[0] !== "on_fail") return null;
  const segments = [...pathSegments(DEFAULTS_PATH), ...ofStep.slice(1)];
  return locator.has(segments) ? segments : null;
}

/** `flows/release.yaml` is the workflow `release`. */
function workflowName(file: string): string {
  const base = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
  const dot = base.lastIndexOf(".");
  return (dot > 0 ? base.slice(0, dot) : base) || "workflow";
}
