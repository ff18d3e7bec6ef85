import type { ReactNode } from "react";
import { expiryText } from "../../../../src/report/words/expiry-text.js";
import { Doll } from "../../parts/Doll.js";
import { Icon } from "../../parts/Icon.js";
import { LadderStrip } from "../../parts/Ladder.js";
import { blocksOf, extentOf, type Problem } from "../../words/problems.js";
import { exactTime, since } from "../../words/times.js";

interface RowProps {
  readonly problem: Problem;
  readonly now: number;
  readonly isChosen: boolean;
  readonly isSelected: boolean;
  readonly mayAct: boolean;
  /** What came of a decision; it stays for a moment. */
  readonly result: string | null;
  /** Somebody else has decided it, or it is over. */
  readonly isGone: boolean;
  readonly href: string;
  readonly onSelect: (withRange: boolean) => void;
}

export function Row(props: RowProps): ReactNode {
  const { problem, now, isChosen, isSelected, mayAct, result, isGone, href, onSelect } = props;
  const { kind, title, step, workflow, error, error_line: line, question } = problem;
  return (
    <li className={`item${isChosen ? " focus" : ""}${isGone && result === null ? " gone" : ""}`}>
      {mayAct ? (
        <input
          type="checkbox"
          className="pick"
          aria-label={`Select ${step} in ${workflow}: ${title}`}
          checked={isSelected}
          onChange={() => onSelect(false)}
          onClick={(event) => event.shiftKey && onSelect(true)}
        />
      ) : (
        <span />
      )}
      <Doll face={kind === "failed" ? "failed" : "held"} />
      <a className="what cut" href={href} title={title} aria-current={isChosen ? "true" : undefined}>
        {title}
      </a>
      <div className="cnt">{extentOf(problem)}</div>
      <div className="where">
        <b className="mono">{step}</b>
        <span className="cut">in {workflow}</span>
        {error !== null && <span className="chip mono line">{error.code}</span>}
        <span className="hide-s cut">
          {question === null ? error?.class : `asks: ${question.choices.join(" or ")}`}
          {kind === "dead_letter" && ", dead letter"}
        </span>
        <span
          className="end num"
          title={`first ${exactTime(problem.first_at)}, last ${exactTime(problem.last_at)}`}
        >
          {problem.jobs > 1 && <span className="hide-s">first {since(problem.first_at, now)}, last </span>}
          {since(problem.last_at, now)}
        </span>
      </div>
      {line !== null && line !== title && (
        <div className="eline cut" title={line}>
          {line}
        </div>
      )}
      {result === null ? (
        <div className="tried">
          {question === null ? (
            <LadderStrip marks={problem.ladder as never} />
          ) : (
            <Icon name="takeover" small />
          )}
          <span className="cut" title={problem.tried}>
            {isGone ? "no longer waits" : problem.tried}
          </span>
          {!isGone && problem.expiry !== null && (
            <span className="nowrap" title={exactTime(problem.expiry.at)}>
              {expiryText(problem.expiry, now)}
            </span>
          )}
          <span className="end">{blocksOf(problem)}</span>
        </div>
      ) : (
        <div className="tried ok" role="status">
          <b>{result}</b>
        </div>
      )}
    </li>
  );
}
