import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { Glyph } from "../parts/Glyph.js";
import { Refused } from "../parts/Notice.js";
import { count } from "../words/status.js";
import type { Checked, TextProblem } from "./check.js";
import type { SchemaPart } from "./text-completion.js";
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

const SHOWN = 100;

interface ProblemsProps {
  readonly checked: Checked;
  readonly mend: Mend | null;
  readonly onGo: (line: number, column: number) => void;
}

/** Lists all problems of the text. If there are none, shows what it may cost. */
export function Problems({ checked, mend, onGo }: ProblemsProps): ReactNode {
  const { check, problem } = checked;
  if (problem !== null) return <Refused problem={problem} />;
  if (check === null) return <div className="probs" />;
  const { problems, warnings, worst_case } = check;
  const all = [
    ...problems.map((told) => ({ told, isBad: true })),
    ...warnings.map((told) => ({ told, isBad: false })),
  ];
  return (
    <section className="probs" aria-label="Problems">
      <ul>
        {all.slice(0, SHOWN).map(({ told, isBad }) => (
          <Line
            key={`${told.line} ${told.column} ${told.message}`}
            told={told}
            isBad={isBad}
            mend={mend}
            onGo={onGo}
          />
        ))}
        {all.length > SHOWN && <li className="dim">{all.length - SHOWN} more</li>}
        {worst_case !== null && <li className="dim">{costWords(worst_case)}</li>}
      </ul>
    </section>
  );
}

interface LineProps {
  readonly told: TextProblem;
  readonly isBad: boolean;
  readonly mend: Mend | null;
  readonly onGo: (line: number, column: number) => void;
}

function Line({ told, isBad, mend, onGo }: LineProps): ReactNode {
  const { code, message, hint, line, column, fix } = told;
  return (
    <li>
      <button
        type="button"
        className="probline"
        title={hint === undefined ? message : `${message} ${hint}`}
        onClick={() => onGo(line, column)}
      >
        {isBad && <Glyph status="failed" />}
        <b className="mono-s">{code}</b>
        <span className="cut">
          {message} {hint !== undefined && <span className="dim">{hint}</span>}
        </span>
        <span className="end dim num">
          {line}:{column}
        </span>
      </button>
      {fix !== undefined && mend !== null && (
        <button type="button" className="btn small-btn" onClick={() => mend(fix)}>
          {fix.words}
        </button>
      )}
    </li>
  );
}

type WorstCase = NonNullable<NonNullable<Checked["check"]>["worst_case"]>;

function costWords({ attempts, steps }: WorstCase): string {
  const most = [...steps]
    .sort(
      (one, other) =>
        (other.attempts ?? Number.POSITIVE_INFINITY) - (one.attempts ?? Number.POSITIVE_INFINITY),
    )
    .slice(0, 3)
    .map((step) => `${step.step} ${step.attempts ?? "without end"}`)
    .join(", ");
  const all = attempts === null ? "attempts have no bound" : `at most ${count(attempts, "attempt")} in all`;
  return `No problems: ${all}${most === "" ? "" : ` (${most})`}.`;
}
