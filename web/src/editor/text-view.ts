import { closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, redo, undo } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { codeFolding, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { nameOfUnseen, UNSEEN } from "../words/unseen.js";
import type { Fix } from "./check.js";
import { type SchemaPart, textCompletion } from "./text-completion.js";
import { textLook } from "./text-look.js";
import { type Mend, showMarks, type TextMarks, textProblems } from "./text-problems.js";

export interface TextViewOptions {
  readonly parent: HTMLElement;
  readonly root: ShadowRoot;
  readonly text: string;
  readonly onChange: (text: string) => void;
  /** Called when a person, not a program, has moved the cursor. */
  readonly onCursor: (line: number) => void;
  readonly schema: () => SchemaPart | null;
  readonly steps: () => readonly string[];
}

/** The text of a workflow in CodeMirror. Offsets and lines refer to the text with plain line breaks. */
export class TextView {
  readonly #view: EditorView;
  readonly #mayEdit = new Compartment();
  #mend: Mend | null = null;

  constructor({ parent, root, text, onChange, onCursor, schema, steps }: TextViewOptions) {
    const usesReturns = /\r\n/.test(text) && !/(?:^|[^\r])\n/.test(text);
    this.#view = new EditorView({
      parent,
      root,
      state: EditorState.create({
        doc: text,
        extensions: [
          ...(usesReturns ? [EditorState.lineSeparator.of("\r\n")] : []),
          [lineNumbers(), codeFolding(), foldGutter(), history(), drawSelection(), highlightActiveLine()],
          highlightSpecialChars({ addSpecialChars: UNSEEN, render: markOf }),
          [yaml(), indentOnInput(), closeBrackets(), search({ top: true })],
          keymap.of([...historyKeymap, ...searchKeymap, ...foldKeymap, ...defaultKeymap]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Workflow text" }),
          textLook,
          textProblems(() => this.#mend),
          textCompletion(schema, steps),
          this.#mayEdit.of(EditorState.readOnly.of(true)),
          EditorView.updateListener.of(({ docChanged, selectionSet, state, transactions }) => {
            if (docChanged) onChange(state.doc.toString());
            if (selectionSet && transactions.some((each) => each.isUserEvent("select")))
              onCursor(state.doc.lineAt(state.selection.main.head).number);
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** The text with the line breaks of the original file. */
  get written(): string {
    return this.#view.state.sliceDoc();
  }

  allowEdits(mend: Mend | null): void {
    this.#mend = mend;
    this.#view.dispatch({ effects: this.#mayEdit.reconfigure(EditorState.readOnly.of(mend === null)) });
  }

  show(marks: TextMarks): void {
    this.#view.dispatch({ effects: showMarks.of(marks) });
  }

  /** Makes a change that can be undone like any other. */
  change(from: number, to: number, text: string): void {
    this.#view.dispatch({ changes: { from, to, insert: text }, userEvent: "input.program" });
  }

  mend({ line, column, end_line, end_column, text }: Fix): void {
    const { doc } = this.#view.state;
    if (end_line > doc.lines) return;
    this.change(doc.line(line).from + column - 1, doc.line(end_line).from + end_column - 1, text);
  }

  replaceAll(text: string): void {
    this.change(0, this.#view.state.doc.length, text);
  }

  goTo(line: number, column = 1): void {
    const { doc } = this.#view.state;
    const found = doc.line(Math.min(Math.max(1, line), doc.lines));
    const at = Math.min(found.to, found.from + column - 1);
    this.#view.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: "center" }),
    });
    this.#view.focus();
  }

  /** Scrolls to a line without taking the focus, because the person works in the graph. */
  bringIntoView(line: number): void {
    const { doc } = this.#view.state;
    const at = doc.line(Math.min(Math.max(1, line), doc.lines)).from;
    this.#view.dispatch({ effects: EditorView.scrollIntoView(at, { y: "center" }) });
  }

  undo(): void {
    undo(this.#view);
  }

  redo(): void {
    redo(this.#view);
  }

  destroy(): void {
    this.#view.destroy();
  }
}

/** Marks an invisible character, as in logs: a workflow must not look different from what it does. */
function markOf(code: number): HTMLElement {
  const mark = document.createElement("span");
  mark.className = "unseen";
  mark.textContent = nameOfUnseen(String.fromCharCode(code));
  return mark;
}
