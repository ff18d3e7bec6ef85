import { isPrefix } from "../../../core/model/fan-out.js";
import type { TransitionDraft } from "../../fields/transition-fields.js";
import type { NameRead } from "../../read/names-in-text.js";
import type { Path } from "../../read/path.js";
import { placeInText, type TextWithNames } from "../../read/placed-text.js";
import type { Findings, InsideScalar } from "../../read/problem.js";
import { quote } from "../../read/suggest.js";
import type { StepGraph } from "../step-graph.js";
import { checkNamesOf } from "./check-names.js";
import { answerBefore, type Lead } from "./comes-before.js";
import { fieldsAsText } from "./condition-text.js";
import type { KnownNames } from "./known-names.js";
import { warnOfShellWords } from "./shell-warnings.js";

export interface ReferenceCheck {
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
