import { isDeepStrictEqual } from "node:util";
import { actionTraits, isBuiltInAction } from "../../core/model/action-traits.js";
import type { Definition, StepDefinition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import type { NamesInText } from "../../file/read/placed-text.js";
import { namesInExpression } from "../../run/sandbox/names/expression-names.js";
import { namesInTemplate } from "../../run/sandbox/names/template-names.js";
import { stringsIn } from "../../run/sandbox/render-step.js";
import { isTemplate } from "../../run/sandbox/template.js";
import type { NeverReused, WhyItRuns } from "./reasons.js";

/** What a text, or all texts of a step, may read; "all" when in doubt. */
interface Read {
  readonly inputs: readonly string[] | "all";
  readonly context: readonly string[] | "all";
  readonly outputs: readonly string[];
  /** Tags or group of the step itself. */
  readonly labels: boolean;
}

const NOTHING: Read = { inputs: [], context: [], outputs: [], labels: false };
const UNKNOWN: Read = { inputs: "all", context: "all", outputs: [], labels: true };
/** Daruma's own names. Every other undeclared name in a text comes from the context. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  "step",
  "attempt",
  "visit",
  "loop",
  "error",
  "foreach",
  "inputs",
  "state",
  "outputs",
  "env",
  "failure",
  "branches",
  "output",
]);

/** Which variables the templates and expressions of steps name. */
class NamesRead {
  private readonly known = new Map<string, Read>();
  private readonly ofSteps = new Map<StepDefinition, Read>();
  private readonly workflowEnv: Read;
  private readonly conditions = new Map<string, Read>();

  constructor(workflow: Definition) {
    this.workflowEnv = union(Object.values(workflow.env).map((text) => this.inTemplate(text)));
    for (const { from, on, when } of workflow.transitions)
      if (on !== "failure" && when !== null && when.type !== "expression") this.conditions.set(from, UNKNOWN);
      else if (on !== "failure" && when?.type === "expression")
        this.conditions.set(from, union([this.conditions.get(from) ?? NOTHING, this.inCode(when.code)]));
  }

  of(step: StepDefinition): Read {
    const known = this.ofSteps.get(step) ?? this.find(step);
    this.ofSteps.set(step, known);
    return known;
  }

  private find(step: StepDefinition): Read {
    // A function of the library's user is given all that there is.
    if (!isBuiltInAction(step.action.type)) return UNKNOWN;
    const { verbatimKeys, scriptKey } = actionTraits(step.action.type);
    const templates: string[] = [...Object.values(step.env), step.cwd ?? ""];
    for (const [key, value] of Object.entries(step.action))
      if (!verbatimKeys.includes(key)) templates.push(...stringsIn(value));
    const { runJs, gotoJs } = step.onSuccess;
    const code = [step.if, step.failIf, runJs, gotoJs, scriptKey === null ? null : step.action[scriptKey]];
    return union([
      this.workflowEnv,
      this.conditions.get(step.id) ?? NOTHING,
      ...templates.map((text) => this.inTemplate(text)),
      ...code.map((text) => (typeof text === "string" ? this.inCode(text) : NOTHING)),
    ]);
  }

  private inTemplate(text: string): Read {
    return isTemplate(text) ? this.remembered(text, namesInTemplate) : NOTHING;
  }

  private inCode(text: string): Read {
    return this.remembered(text, namesInExpression);
  }

  private remembered(text: string, find: (text: string) => NamesInText | null): Read {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    const read = readOf(find(text));
    this.known.set(text, read);
    return read;
  }
}

function readOf(names: NamesInText | null): Read {
  if (names === null || names.hidden || names.declared.has("inputs")) return UNKNOWN;
  const inputs = new Set<string>();
  const context = new Set<string>();
  const outputs = new Set<string>();
  let allInputs = false;
  let labels = names.declared.has("step");
  for (const { path } of names.reads) {
    const [first, second] = path.map(({ name }) => name);
    if (first === "inputs" && second === undefined) allInputs = true;
    else if (first === "inputs") inputs.add(second!);
    else if (first === "outputs" && second !== undefined) outputs.add(second);
    else if (first === "step") labels ||= second !== "id";
    else if (!OWN_NAMES.has(first!)) context.add(first!);
  }
  return {
    inputs: allInputs ? "all" : [...inputs],
    // A name that the text declares hides one of the context, perhaps not everywhere in it.
    context: [...context, ...names.declared],
    outputs: [...outputs],
    labels,
  };
}

function union(reads: readonly Read[]): Read {
  const read = reads.filter((each) => each !== NOTHING);
  if (read.length === 0) return NOTHING;
  return {
    inputs: allOf(read.map(({ inputs }) => inputs)),
    context: allOf(read.map(({ context }) => context)),
    outputs: [...new Set(read.flatMap(({ outputs }) => outputs))],
    labels: read.some(({ labels }) => labels),
  };
}

function allOf(parts: readonly (readonly string[] | "all")[]): readonly string[] | "all" {
  const names = new Set<string>();
  for (const part of parts) {
    if (part === "all") return "all";
    for (const name of part) names.add(name);
  }
  return [...names];
}

/** What a run is made of, as far as it can change what a step does. */
export interface RunMaterial {
  readonly definition: Definition;
  readonly inputs: { readonly [name: string]: Json };
  readonly context: { readonly [name: string]: Json };
  readonly folder: string;
}

type Part = (step: StepDefinition, workflow: Definition) => unknown;

/**
 * The keys beside those of the action that change what a step does or what follows from its success. Descriptions,
 * labels, time limits, resources and all that answers failures are left out: they do not change a success.
 */
const COUNTED: { readonly [key: string]: Part } = {
  depends_on: ({ dependsOn }) => dependsOn.map((group) => group.toSorted().join("|")).toSorted(),
  needs: ({ needs }) => needs ?? "completed",
  start: ({ start }) => start,
  if: (step) => step.if,
  env: ({ env }, workflow) => ({ ...workflow.env, ...env }),
  cwd: ({ cwd }) => cwd,
  forEach: ({ forEach }) => forEach,
  fanout: ({ reduce }) => reduce,
  join: ({ join }) => join,
  files: ({ files }) => [files?.inputs.toSorted() ?? [], files?.outputs.toSorted() ?? []],
  user_data: ({ userData }, workflow) => [
    userData?.outputs.toSorted() ?? [],
    // The reader of a value depends on its writer. A value without a writer is in the file.
    userData?.inputs.toSorted().map((name) => [name, workflow.userData?.[name] ?? null]) ?? [],
  ],
  fail_if: ({ failIf }) => failIf ?? null,
  outputs: ({ outputSchema }) => outputSchema,
  on_success: ({ onSuccess }) => onSuccess,
  workspace: ({ usesWorkspace }) => usesWorkspace,
};

/** Only where a text of the step reads them. */
const LABELS: { readonly [key: string]: Part } = { tags: ({ tags }) => tags, group: ({ group }) => group };

/** Compares the steps of a new run with those of an older one. */
export class Comparison {
  private readonly names: NamesRead;
  private readonly oldSteps: ReadonlyMap<string, StepDefinition>;
  private readonly oldEdges: ReadonlyMap<string, readonly unknown[]>;
  private readonly newEdges: ReadonlyMap<string, readonly unknown[]>;
  /** What makes every step run. */
  private readonly everywhere: WhyItRuns | null;

  constructor(
    private readonly old: RunMaterial,
    private readonly now: RunMaterial,
  ) {
    this.oldSteps = new Map(old.definition.steps.map((step) => [step.id, step]));
    this.oldEdges = successEdges(old.definition);
    this.newEdges = successEdges(now.definition);
    this.names = new NamesRead(now.definition);
    this.everywhere = changedEverywhere(old, now);
  }

  /** Why a step cannot be what it was; null: as far as its text and its variables go, it is. */
  whyChanged(step: StepDefinition): WhyItRuns | null {
    const before = this.oldSteps.get(step.id);
    if (before === undefined) return { kind: "new_step" };
    const because = neverReused(step);
    if (because !== null) return { kind: "never", because };
    if (this.everywhere !== null) return this.everywhere;
    const keys = this.changedKeys(before, step);
    if (keys.length > 0) return { kind: "definition", keys };
    return this.changedValues("inputs", step) ?? this.changedValues("context", step);
  }

  /** The steps whose outputs the step names. */
  outputsReadBy(step: StepDefinition): readonly string[] {
    return this.names.of(step).outputs;
  }

  private changedKeys(before: StepDefinition, step: StepDefinition): string[] {
    const actionKeys = new Set([...Object.keys(step.action), ...Object.keys(before.action)]);
    const keys = [...actionKeys].filter((key) => !isDeepStrictEqual(before.action[key], step.action[key]));
    const counted = this.names.of(step).labels ? { ...COUNTED, ...LABELS } : COUNTED;
    for (const [key, part] of Object.entries(counted))
      if (!isDeepStrictEqual(part(before, this.old.definition), part(step, this.now.definition)))
        keys.push(key);
    if (!isDeepStrictEqual(this.oldEdges.get(step.id), this.newEdges.get(step.id))) keys.push("transitions");
    return keys;
  }

  private changedValues(kind: "inputs" | "context", step: StepDefinition): WhyItRuns | null {
    const [before, now] = [this.old[kind], this.now[kind]];
    const read = this.names.of(step)[kind];
    const names = read === "all" ? [...new Set([...Object.keys(before), ...Object.keys(now)])] : read;
    const changed = names.filter((name) => !isDeepStrictEqual(before[name], now[name]));
    return changed.length === 0 ? null : { kind, names: changed };
  }
}

/** A new secret may stand in plain text in what was recorded before it was one. */
function changedEverywhere(old: RunMaterial, now: RunMaterial): WhyItRuns | null {
  if (old.folder !== now.folder) return { kind: "folder" };
  const [before, after] = [old.definition.secrets.toSorted(), now.definition.secrets.toSorted()];
  return isDeepStrictEqual(before, after) ? null : { kind: "secrets" };
}

/** Whatever has changed or not. */
function neverReused({ reuse, action, usesWorkspace, userData }: StepDefinition): NeverReused | null {
  if (reuse === false) return "reuse_false";
  if (userData?.ephemeral === true) return "ephemeral_data";
  const { doneBy } = actionTraits(action.type);
  if (doneBy === "person") return "human";
  // Its file may have changed, and all that its steps read.
  if (doneBy === "server") return "child_workflow";
  return usesWorkspace ? "workspace" : null;
}

/**
 * Transitions on success by step, in the order in which they are tried. Their ids do not count, because these are only
 * positions in the file.
 */
function successEdges({ transitions }: Definition): Map<string, unknown[]> {
  const edges = new Map<string, unknown[]>();
  const ordered = transitions
    .filter(({ on }) => on !== "failure")
    .toSorted((a, b) => a.priority - b.priority);
  for (const { from, to, on, when } of ordered) {
    const found = edges.get(from) ?? [];
    edges.set(from, [...found, { to, on, when }]);
  }
  return edges;
}
