import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import type { SchemaPart } from "./schema-at.js";
import type { Mend, TextMarks } from "./text-problems.js";
import { TextView } from "./text-view.js";

interface TextPaneProps {
  /** The initial text. Afterwards the view owns the text. */
  readonly text: string;
  readonly view: RefObject<TextView | null>;
  readonly mend: Mend | null;
  readonly marks: TextMarks;
  readonly schema: SchemaPart | null;
  readonly steps: readonly string[];
  readonly onChange: (text: string) => void;
  readonly onCursor: (line: number) => void;
}

/** The editor in a shadow root, where CodeMirror can use style sheets that the Content-Security-Policy allows. */
export function TextPane(props: TextPaneProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const newest = useRef(props);
  newest.current = props;
  const { view, mend, marks } = props;
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" });
    const parent = document.createElement("div");
    parent.style.height = "100%";
    root.append(parent);
    const made = new TextView({
      parent,
      root,
      text: newest.current.text,
      onChange: (text) => newest.current.onChange(text),
      onCursor: (line) => newest.current.onCursor(line),
      schema: () => newest.current.schema,
      steps: () => newest.current.steps,
    });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
      parent.remove();
    };
  }, [view]);
  const mayEdit = mend !== null;
  useEffect(
    () => view.current?.allowEdits(mayEdit ? (fix) => newest.current.mend?.(fix) : null),
    [mayEdit, view],
  );
  const { problems, warnings, lines } = marks;
  useEffect(() => view.current?.show({ problems, warnings, lines }), [problems, warnings, lines, view]);
  return <div className="textpane" ref={host} />;
}
