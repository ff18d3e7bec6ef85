import type { ReactNode } from "react";
import { expiryText } from "../../../../src/tell/words/expiry-text.js";
import { Doll } from "../../parts/Doll.js";
import { Icon } from "../../parts/Icon.js";
import { LadderStrip } from "../../parts/Ladder.js";
import { blocksOf, classWords, extentOf, type Problem, seenText } from "../../words/problems.js";
import { exactTime, since } from "../../words/times.js";
import { withMarks } from "../../words/unseen.js";

interface RowProps {
  readonly problem: Problem;
  readonly now: number;
  readonly isChosen: boolean;
  readonly isSelected: boolean;
  readonly mayAct: boolean;
  /** The result of a decision, shown for a moment. */
  readonly result: string | null;
  /** Somebody else has decided it, or it is over. */
  readonly isGone: boolean;
  readonly href: string;
  readonly onSelect: (withRange: boolean) => void;
}

const ALONE = "A question has its own choices: it is answered by itself";

export function Row(props: RowProps): ReactNode {
  const { problem, now, isChosen, isSelected, mayAct, result, isGone, href, onSelect } = props;
  const { kind, title, step, workflow, error, error_line: line, question } = problem;
  return (
    <li className={`item${isChosen ? " focus" : ""}${isGone && result === null ? " gone" : ""}`}>
      {mayAct && question === null ? (
        <input
          type="checkbox"
          className="pick"
          aria-label={`Select ${step} in ${workflow}: ${title}`}
          checked={isSelected}
          onChange={() => onSelect(false)}
          onClick={(event) => event.shiftKey && onSelect(true)}
        />
      ) : mayAct ? (
        <input
          type="checkbox"
          className="pick"
          aria-label={`Select ${step} in ${workflow}: ${title}`}
          aria-disabled="true"
          aria-description={ALONE}
          title={ALONE}
          checked={false}
          onChange={() => {}}
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
        <span className="hide-s cut" title={error === null ? undefined : `class ${error.class}`}>
          {question === null
            ? classWords(error?.class ?? "")
            : `asks: ${withMarks(question.choices.join(" or "))}`}
          {kind === "dead_letter" && " · dead letter"}
        </span>
        <span
          className="end num"
          title={`first ${exactTime(problem.first_at)}, last ${exactTime(problem.last_at)}`}
        >
          <span className="hide-s">{seenText(problem, now)}</span>
          <span className="only-s">{since(problem.last_at, now)}</span>
        </span>
      </div>
      {line !== null && (
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
