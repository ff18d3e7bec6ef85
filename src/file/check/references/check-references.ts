import { dependencyOrder } from "../../../core/model/dependency-order.js";
import { isPrefix } from "../../../core/model/fan-out.js";
import type { ConditionField } from "../../fields/condition-fields.js";
import type { TransitionDraft } from "../../fields/transition-fields.js";
import type { Path } from "../../read/path.js";
import {
  type NamePart,
  type NameRead,
  type NamesInText,
  placeInText,
  type TextWithNames,
} from "../../read/placed-text.js";
import type { Findings, InsideScalar } from "../../read/problem.js";
import { quote } from "../../read/suggest.js";
import { answerAncestors, findKnots } from "../graph-walks.js";
import type { StepGraph } from "../step-graph.js";
import { checkNamesOf, type KnownNames } from "./check-names.js";
import { warnOfShellWords } from "./shell-warnings.js";

/** One step leads to another other than by a dependency. */
export interface Lead {
  readonly kind: "run" | "goto" | "edge";
  readonly from: number;
  readonly to: number;
}

interface BeforeQuestion {
  readonly first: number;
  readonly second: number;
}

/**
 * Whether a step may have run before another: the other depends on it, or is led to by a step behind it, through any
 * number of run lists and transitions. A run list also comes before what its step does next. A goto only brings along
 * what its own step has behind it.
 */
export function answerBefore(
  { order }: Pick<StepGraph, "order">,
  leads: readonly Lead[],
  questions: readonly BeforeQuestion[],
): boolean[] {
  const before: Set<number>[] = order.dependencies.map((dependencies) => new Set(dependencies));
  /** For each target of a goto, a separate point behind all steps that go back to it. */
  const returns = new Map<number, number>();
  for (const { kind, from, to } of leads) {
    if (kind === "goto") {
      if (!returns.has(to)) returns.set(to, before.push(new Set()) - 1);
      before[returns.get(to)!]!.add(from);
    } else before[to]!.add(from);
    if (kind === "run") before[from]!.add(to);
  }
  const { order: knotted, knotOf } = tieKnots(before.map((found) => [...found]));
  const ask = (pairs: readonly { readonly first: number; readonly second: number | undefined }[]) => {
    const asked = pairs.map(({ first, second }) => ({
      ancestor: knotOf[first]!,
      descendant: second === undefined ? NOBODY : knotOf[second]!,
    }));
    const { answers } = answerAncestors(
      knotted,
      asked.filter(({ descendant }) => descendant !== NOBODY),
    );
    let next = 0;
    return asked.map(({ ancestor, descendant }) =>
      descendant === NOBODY ? false : answers[next++]! || ancestor === descendant,
    );
  };
  const directly = ask(questions);
  const onReturn = ask(questions.map(({ first, second }) => ({ first, second: returns.get(second) })));
  // What depends on the target of a goto loses its output by it.
  const lost = ask(questions.map(({ first, second }) => ({ first: second, second: first })));
  return questions.map((_, at) => directly[at]! || (onReturn[at]! && !lost[at]!));
}

const NOBODY = -1;

/** The graph with every circle of it drawn together into one point. */
function tieKnots(before: readonly (readonly number[])[]) {
  const knotOf = before.map((_, index) => index);
  for (const knot of findKnots(before)) for (const member of knot) knotOf[member] = knot[0]!;
  const needs: Set<string>[] = before.map(() => new Set());
  before.forEach((found, index) => {
    for (const earlier of found)
      if (knotOf[earlier] !== knotOf[index]) needs[knotOf[index]!]!.add(String(knotOf[earlier]));
  });
  const order = dependencyOrder(
    needs.map((found, index) => ({ id: String(index), dependsOn: [[...found]] })),
  );
  return { order, knotOf };
}

const PART = /\[\d+\]|[^.[\]]+/g;

/** The fields that conditions read, as if each was a template of its own. */
function fieldsAsText(
  transitions: readonly TransitionDraft[],
  steps: { has(name: string): boolean },
): TextWithNames[] {
  return transitions.flatMap(({ when }) =>
    (when?.fields ?? []).map((field) => ({
      language: "template",
      text: field.value,
      node: field.node,
      path: field.path,
      names: namesInField(field, steps),
    })),
  );
}

function namesInField(field: ConditionField, steps: { has(name: string): boolean }): NamesInText {
  const parts = [...field.value.matchAll(PART)].map((match) => ({ name: match[0], at: match.index }));
  const reads = [{ path: joinStepName(parts, steps), asked: field.asked === true }];
  return { reads, declared: new Set(), hidden: false, literals: [], prints: [] };
}

/** Unlike elsewhere, the id of a step may have dots in it here: the longest that is one counts. */
function joinStepName(
  parts: readonly NamePart[],
  steps: { has(name: string): boolean },
): readonly NamePart[] {
  if (parts[0]?.name !== "outputs") return parts;
  const from = parts[1]?.name === "history" && parts.length > 2 ? 2 : 1;
  for (let to = parts.length; to > from + 1; to--) {
    const name = parts
      .slice(from, to)
      .map((part) => part.name)
      .join(".");
    if (steps.has(name)) return [...parts.slice(0, from), { name, at: parts[from]!.at }, ...parts.slice(to)];
  }
  return parts;
}

interface ReferenceCheck {
  readonly texts: readonly TextWithNames[];
  readonly known: KnownNames;
  readonly graph: StepGraph;
  readonly transitions: readonly TransitionDraft[];
  /** The fan-outs around each step. */
  readonly paths: readonly (readonly string[])[];
  /** Ids of the steps that wait to be routed to. */
  readonly routed: ReadonlySet<string>;
}

/** A step's output that some text reads without a look if it is there. */
interface OutputRead {
  readonly read: NameRead;
  readonly text: TextWithNames;
  /** Whose text it is; null for one of the whole file. */
  readonly reader: number | null;
  readonly step: number;
}

/** Looks up what expressions, templates and conditions read: names that do not exist, outputs that need not be there. */
export function checkReferences(check: ReferenceCheck, findings: Findings): void {
  const { graph, known } = check;
  const readers = readersByPath(check);
  const outputs: OutputRead[] = [];
  for (const text of [...check.texts, ...fieldsAsText(check.transitions, graph.indexOf)]) {
    const reader =
      text.filled === undefined ? readerOf(text.path, readers) : (graph.indexOf.get(text.filled.job) ?? null);
    const reads = checkNamesOf(text, known, findings);
    const asked = new Set(reads.flatMap((read) => (read.asked ? [read.path[1]!.name] : [])));
    for (const read of reads) {
      const id = read.path[1]!.name;
      if (!asked.has(id)) outputs.push({ read, text, reader, step: graph.indexOf.get(id)! });
    }
    if (text.shell) warnOfShellWords(text, known.file.plainInputs, findings);
  }
  warnOfMissingOutputs(outputs, leadsOf(check, readers), check, findings);
}

type Readers = ReadonlyMap<Path | null, number>;

/** A text belongs to the step, job or transition in which it stands; a transition looks at the step it comes from. */
function readersByPath({ graph, transitions }: ReferenceCheck): Readers {
  const readers = new Map<Path | null, number>();
  graph.entries.forEach(({ path }, index) => {
    if (!readers.has(path)) readers.set(path, index);
  });
  for (const { path, from } of transitions) {
    const index = from && graph.indexOf.get(from.value);
    if (index !== undefined) readers.set(path, index);
  }
  return readers;
}

function readerOf(path: Path | null, readers: Readers): number | null {
  for (let at = path; at !== null; at = at.parent) {
    const reader = readers.get(at);
    if (reader !== undefined) return reader;
  }
  return null;
}

/** Routes that the file writes out, and those of `run_js` and `goto_js` as far as their texts name steps. */
function leadsOf({ graph, transitions, texts }: ReferenceCheck, readers: Readers): Lead[] {
  const leads: Lead[] = [];
  const add = (kind: Lead["kind"], from: number | null | undefined, name: string | undefined) => {
    const to = name === undefined ? undefined : graph.indexOf.get(name);
    if (from != null && to !== undefined) leads.push({ kind, from, to });
  };
  for (const { kind, from, target } of graph.routes) add(kind, from, target.value);
  for (const { from, to } of transitions) add("edge", from && graph.indexOf.get(from.value), to?.value);
  for (const { path, names, text } of texts) {
    const key = path?.key;
    if (key !== "run_js" && key !== "goto_js") continue;
    const reader = readerOf(path, readers);
    const sources = reader === null ? takersOf(key, text, graph) : [reader];
    for (const from of sources)
      for (const literal of names.literals) add(key === "run_js" ? "run" : "goto", from, literal);
  }
  return leads;
}

/** Steps that have a default's expression. */
function takersOf(key: "run_js" | "goto_js", text: string, { entries }: StepGraph): number[] {
  return entries.flatMap(({ raw }, index) => (raw?.keys.on_fail?.[key] === text ? [index] : []));
}

function warnOfMissingOutputs(
  outputs: readonly OutputRead[],
  leads: readonly Lead[],
  check: ReferenceCheck,
  findings: Findings,
): void {
  const { graph, routed } = check;
  const ledTo = new Set(leads.flatMap(({ kind, to }) => (kind === "goto" ? [] : [to])));
  // A routed step that no text names: some run_js leads to it, from who knows where.
  const isOpen = (index: number) => routed.has(graph.entries[index]!.id) && !ledTo.has(index);
  const doubted = outputs.filter(
    ({ reader, step }) =>
      graph.doubtful[step] === 0 && (reader === null || (graph.doubtful[reader] === 0 && !isOpen(reader))),
  );
  const ofSteps = doubted.flatMap((output) =>
    output.reader === null ? [] : [{ ...output, reader: output.reader }],
  );
  if (doubted.length === 0) return;
  const answers = answerBefore(
    graph,
    leads,
    ofSteps.map(({ reader, step }) => ({ first: step, second: reader })),
  );
  const warn = ({ read, text }: OutputRead, message: string, hint: string) => {
    const inside: InsideScalar = placeInText(text, read.path[0]!.at);
    findings.warn({
      code: "OUTPUT_MAY_BE_MISSING",
      message,
      hint,
      at: text.node.at,
      path: text.path,
      inside,
    });
  };
  ofSteps.forEach((output, at) => {
    const { reader, step, text } = output;
    const [name, other] = [quote(graph.entries[reader]!.id), quote(graph.entries[step]!.id)];
    if (reducesOver(reader, step, check)) return;
    if (!answers[at]) {
      const message = `${name} reads the output of ${other}, but may run before it`;
      warn(output, message, `Add ${other} to the depends_on of ${name}, or ${WAYS_TO_ASK[text.language]}.`);
    } else if (!isVisible(reader, step, check)) {
      const message = `${name} reads the output of ${other}, which exists only within its fan-out`;
      warn(output, message, "Read it in the step with `fanout: reduce`, and pass it on.");
    }
  });
  for (const output of doubted) {
    if (output.reader !== null || output.text.path?.parent?.key !== "env") continue;
    const other = quote(graph.entries[output.step]!.id);
    const message = `this variable of every step reads the output of ${other}, but not every step runs after it`;
    warn(output, message, `Move it to the \`env\` of the steps after ${other}, or ${WAYS_TO_ASK.template}.`);
  }
}

const WAYS_TO_ASK: { readonly [language in TextWithNames["language"]]: string } = {
  expression: "use `?.`",
  template: "give it a `default`",
};

/** A reducer sees every step of the branches that it closes. */
function reducesOver(reader: number, step: number, { graph, paths }: ReferenceCheck): boolean {
  if (graph.entries[reader]!.raw?.keys.fanout?.value !== "reduce") return false;
  const outer = paths[reader]!;
  const opener = paths[step]![outer.length];
  return (
    opener !== undefined &&
    isPrefix(outer, paths[step]!) &&
    graph.order.dependencies[reader]!.some((dependency) => paths[dependency]![outer.length] === opener)
  );
}

/** Names resolve from a scope outward; a routed step works in the scopes of who routes to it. */
function isVisible(reader: number, step: number, { graph, paths, routed }: ReferenceCheck): boolean {
  if (routed.has(graph.entries[reader]!.id)) return true;
  return isPrefix(paths[step]!, paths[reader]!);
}
