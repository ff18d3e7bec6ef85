import type { ReactNode } from "react";
import { Glyph } from "../parts/Glyph.js";
import { Refused } from "../parts/Notice.js";
import { count } from "../words/status.js";
import type { Checked, TextProblem } from "./check.js";
import type { Mend } from "./text-problems.js";

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
