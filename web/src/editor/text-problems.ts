import {
  type Extension,
  RangeSet,
  RangeSetBuilder,
  StateEffect,
  StateField,
  type Text,
} from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  GutterMarker,
  gutterLineClass,
  WidgetType,
} from "@codemirror/view";
import type { Fix, TextProblem } from "./check.js";

/** Everything that is marked in the text. */
export interface TextMarks {
  readonly problems: readonly TextProblem[];
  readonly warnings: readonly TextProblem[];
  /** The lines of the chosen edge. */
  readonly lines: { readonly first: number; readonly last: number } | null;
}

export const showMarks = StateEffect.define<TextMarks>();

/** More messages would hide the text. All of them are listed below it. */
const MAX_TOLD = 40;

const EDGE_LINE = Decoration.line({ class: "edge-line" });
const BAD_LINE = Decoration.line({ class: "bad-line" });
const BAD_WORD = Decoration.mark({ class: "bad-word" });
const DOUBT_WORD = Decoration.mark({ class: "doubt-word" });

export type Mend = (fix: Fix) => void;

/**
 * @param mend applies a fix; null if nothing can be changed here
 */
export function textProblems(mend: () => Mend | null): Extension {
  const field = StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(decorations, { effects, changes, state }) {
      for (const effect of effects) if (effect.is(showMarks)) return decorate(state.doc, effect.value, mend);
      return decorations.map(changes);
    },
    provide: (own) => EditorView.decorations.from(own),
  });
  return [field, badNumbers];
}

const BAD_NUMBER = new (class extends GutterMarker {
  override elementClass = "bad-number";
})();

/** Marks the numbers of lines with problems. */
const badNumbers = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(numbers, { effects, changes, state }) {
    for (const effect of effects)
      if (effect.is(showMarks)) {
        const lines = new Set(effect.value.problems.map((problem) => wordAt(state.doc, problem).line.from));
        return RangeSet.of([...lines].sort((one, other) => one - other).map((at) => BAD_NUMBER.range(at)));
      }
    return numbers.map(changes);
  },
  provide: (own) => gutterLineClass.from(own),
});

interface Placed {
  readonly at: number;
  readonly to: number;
  readonly order: number;
  readonly decoration: Decoration;
}

function decorate(
  doc: Text,
  { problems, warnings, lines }: TextMarks,
  mend: () => Mend | null,
): DecorationSet {
  const placed: Placed[] = [];
  const put = (at: number, to: number, order: number, decoration: Decoration) =>
    placed.push({ at, to, order, decoration });
  const last = Math.min(lines?.last ?? 0, doc.lines);
  for (let line = lines?.first ?? 1; line <= last; line++)
    put(doc.line(line).from, doc.line(line).from, 0, EDGE_LINE);
  const bad = new Set<number>();
  for (const problem of problems) {
    const { from, to, line } = wordAt(doc, problem);
    if (!bad.has(line.from)) put(line.from, line.from, 1, BAD_LINE);
    bad.add(line.from);
    if (to > from) put(from, to, 2, BAD_WORD);
    if (placed.length < MAX_TOLD * 3)
      put(line.to, line.to, 3, Decoration.widget({ widget: new Told(problem, mend), block: true, side: 1 }));
  }
  for (const warning of warnings) {
    const { from, to } = wordAt(doc, warning);
    if (to > from) put(from, to, 2, DOUBT_WORD);
  }
  placed.sort((one, other) => one.at - other.at || one.order - other.order);
  const built = new RangeSetBuilder<Decoration>();
  for (const { at, to, decoration } of placed) built.add(at, to, decoration);
  return built.finish();
}

/** The word at the position of a problem, which may belong to an older text. */
function wordAt(doc: Text, { line: wanted, column }: TextProblem) {
  const line = doc.line(Math.min(Math.max(1, wanted), doc.lines));
  const from = Math.min(line.to, line.from + column - 1);
  const word = /^("[^"]*"?|'[^']*'?|[\w.$-]+|\S)/.exec(line.text.slice(from - line.from));
  return { line, from, to: from + (word?.[0].length ?? 0) };
}

/** A message below its line, with a button for its fix. */
class Told extends WidgetType {
  constructor(
    private readonly problem: TextProblem,
    private readonly mend: () => Mend | null,
  ) {
    super();
  }

  override eq(other: Told): boolean {
    return JSON.stringify(other.problem) === JSON.stringify(this.problem);
  }

  override toDOM(): HTMLElement {
    const { message, fix } = this.problem;
    const box = document.createElement("div");
    box.className = "told";
    const words = document.createElement("span");
    words.textContent = message;
    box.append(words);
    const mend = this.mend();
    if (fix !== undefined && mend !== null) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = fix.words;
      button.addEventListener("click", () => mend(fix));
      box.append(button);
    }
    return box;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}
