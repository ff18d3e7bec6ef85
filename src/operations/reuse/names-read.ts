import { actionTraits, isBuiltInAction } from "../../core/model/action-traits.js";
import type { Definition, StepDefinition } from "../../core/model/definition.js";
import type { NamesInText } from "../../file/read/names-in-text.js";
import { namesInExpression } from "../../run/sandbox/names/expression-names.js";
import { namesInTemplate } from "../../run/sandbox/names/template-names.js";
import { stringsIn } from "../../run/sandbox/render-step.js";
import { isTemplate } from "../../run/sandbox/template.js";

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
export class NamesRead {
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
