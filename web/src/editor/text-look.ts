import { syntaxTree } from "@codemirror/language";
import { type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

const MARKS: { readonly [node: string]: Decoration | undefined } = {
  Key: Decoration.mark({ class: "y-key" }),
  QuotedLiteral: Decoration.mark({ class: "y-text" }),
  BlockLiteralContent: Decoration.mark({ class: "y-text" }),
  Comment: Decoration.mark({ class: "y-note" }),
};
const NUMBER = Decoration.mark({ class: "y-number" });
const PLAIN = /^(-?\d[\d._]*|true|false|null)$/;
const MAX_PLAIN_CHARS = 40;

/** Highlights the visible part of YAML in the page's colours. */
const colours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = colour(view);
    }
    update({ docChanged, viewportChanged, view, startState, state }: ViewUpdate): void {
      if (docChanged || viewportChanged || syntaxTree(startState) !== syntaxTree(state))
        this.decorations = colour(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function colour(view: EditorView): DecorationSet {
  const marks = new RangeSetBuilder<Decoration>();
  let last = -1;
  const add = (from: number, to: number, mark: Decoration): void => {
    if (from < last || from === to) return;
    marks.add(from, to, mark);
    last = to;
  };
  for (const { from, to } of view.visibleRanges)
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: ({ name, from: start, to: end }) => {
        const mark = MARKS[name];
        if (mark !== undefined) {
          add(start, end, mark);
          return false;
        }
        if (
          name === "Literal" &&
          end - start < MAX_PLAIN_CHARS &&
          PLAIN.test(view.state.sliceDoc(start, end))
        )
          add(start, end, NUMBER);
        return true;
      },
    });
  return marks.finish();
}

const theme = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--code)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { font: "var(--m-12)", lineHeight: "19px", overflow: "auto" },
  ".cm-content": { padding: "6px 0", caretColor: "var(--text)" },
  ".cm-gutters": {
    backgroundColor: "var(--code)",
    color: "var(--text-3)",
    border: "none",
    paddingLeft: "6px",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--run-l)",
  },
  ".y-key": { color: "var(--run-t)" },
  ".y-text": { color: "var(--ok-t)" },
  ".y-number": { color: "var(--gold-t)" },
  ".y-note": { color: "var(--text-3)", fontStyle: "italic" },
  ".unseen": {
    margin: "0 1px",
    padding: "0 3px",
    border: "1px solid var(--line-strong)",
    borderRadius: "3px",
    font: "600 10px / 14px var(--font)",
    color: "var(--text-2)",
  },
  ".edge-line": { backgroundColor: "var(--selected)", boxShadow: "inset 3px 0 var(--focus)" },
  ".bad-line": { backgroundColor: "var(--fail-b)" },
  ".cm-gutterElement.bad-number": { color: "var(--fail-t)", fontWeight: "700" },
  ".bad-word": { textDecoration: "underline wavy var(--fail-s)", textUnderlineOffset: "3px" },
  ".doubt-word": { textDecoration: "underline dotted var(--line-strong)", textUnderlineOffset: "3px" },
  ".told": {
    display: "flex",
    alignItems: "center",
    gap: "10px",
    margin: "0 12px 2px 8px",
    padding: "3px 4px 3px 10px",
    border: "1px solid var(--line-2)",
    borderLeft: "3px solid var(--fail-s)",
    backgroundColor: "var(--surface)",
    color: "var(--fail-t)",
    font: "var(--t-12)",
    whiteSpace: "normal",
    overflowWrap: "anywhere",
  },
  ".told span": { flex: "1" },
  ".told button": {
    font: "500 12px/18px var(--font)",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-2)",
    borderRadius: "var(--r2)",
    padding: "0 8px",
    height: "22px",
    cursor: "pointer",
  },
  ".told button:focus-visible": { outline: "2px solid var(--focus)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line-2)",
    borderRadius: "var(--r2)",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip-autocomplete > ul": { font: "var(--m-12)" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--selected)",
    color: "var(--text)",
  },
  ".cm-completionInfo": { font: "var(--t-12)", padding: "6px 10px", maxWidth: "320px" },
  ".cm-completionDetail": { color: "var(--text-3)" },
  ".known-key": { font: "var(--t-12)", padding: "6px 10px", maxWidth: "360px" },
  ".cm-panels": {
    backgroundColor: "var(--sunken)",
    color: "var(--text)",
    borderColor: "var(--line)",
    font: "var(--t-12)",
  },
  ".cm-textfield, .cm-button": {
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    color: "var(--text)",
    border: "1px solid var(--line-2)",
  },
});

export const textLook: Extension = [theme, colours];
