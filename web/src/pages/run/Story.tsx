import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { nameOf } from "../../../../src/report/lookup/job-name.js";
import { expiryText } from "../../../../src/report/words/expiry-text.js";
import { marksOf } from "../../../../src/report/words/rung-marks.js";
import { LadderStrip } from "../../parts/Ladder.js";
import { useMinute } from "../../parts/use-minute.js";
import { addressOf } from "../../place.js";
import { sentence, withoutCode } from "../../words/moment.js";
import { endWords, recoveryWords } from "../../words/recoveries.js";
import { RUNGS } from "../step/rungs.js";
import type { RunStory, RunSummary, TimelineRow, Told } from "./run-data.js";
import { completedText, storyLines } from "./story-lines.js";

interface StoryProps {
  readonly run: RunSummary;
  readonly story: Pick<RunStory, "recoveries">;
  readonly rows: readonly TimelineRow[];
  readonly chosen: number | null;
  readonly choose: (number: number | null) => void;
  /** What stands before the end. */
  readonly children?: ReactNode;
}

/** What was tried and why, one number for each recovery; what went straight is one grey line. */
export function Story({ run, story, rows, chosen, choose, children }: StoryProps): ReactNode {
  const now = useMinute();
  const until = run.at?.seq ?? null;
  const lines = useMemo(() => storyLines(story.recoveries, rows, until), [story, rows, until]);
  const { holds, failures } = run.summary;
  return (
    <ol className="story">
      {lines.map((line) =>
        line.kind === "straight" ? (
          <li key={`s${line.seq}`} className="flat">
            <span />
            <span>{completedText(line.steps)}</span>
          </li>
        ) : (
          <Entry
            key={line.recovery.number}
            runId={run.run_id}
            recovery={line.recovery}
            isChosen={line.recovery.number === chosen}
            choose={choose}
          />
        ),
      )}
      {holds.map((hold) => (
        <Outcome
          key={hold.id}
          runId={run.run_id}
          step={nameOf(hold.step, hold.scope)}
          tone="person"
          words={hold.kind === "question" ? "asks a question" : "waits for a person"}
          message={hold.question?.prompt ?? hold.error?.message}
          isError={hold.question === null}
          {...(hold.expiry === null ? {} : { more: sentence(expiryText(hold.expiry, now)) })}
        />
      ))}
      {failures.map((failure) => (
        <Outcome
          key={failure.job_id}
          runId={run.run_id}
          step={nameOf(failure.step, failure.scope)}
          tone="bad"
          words="failed"
          message={failure.message}
        />
      ))}
      {children}
      {run.undone !== null && (
        <li className="flat">
          <span />
          <span>{undoneText(run.undone)}</span>
        </li>
      )}
      <li className="flat last">
        <span />
        <span>
          {story.recoveries.length === 0 ? "No recoveries. " : ""}
          {run.summary.counts.join(", ")}.
        </span>
      </li>
    </ol>
  );
}

interface EntryProps {
  readonly runId: number;
  readonly recovery: Told;
  readonly isChosen: boolean;
  readonly choose: (number: number | null) => void;
}

function Entry({ runId, recovery, isChosen, choose }: EntryProps): ReactNode {
  const { number, step, scope, attempt, rung, error, considered, cost, left, reason } = recovery;
  const name = recovery.jobs > 1 ? step : nameOf(step, scope);
  const isEdge = rung === "edge";
  const entry = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) entry.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    <li ref={entry} className={isChosen ? "sel" : undefined} aria-current={isChosen ? "true" : undefined}>
      <button
        type="button"
        className={isEdge ? "n bad" : "n"}
        aria-label={`Recovery ${number}`}
        aria-pressed={isChosen}
        onClick={() => choose(isChosen ? null : number)}
      >
        {number}
      </button>
      <div>
        <div className="ti">
          <span>
            <a className="mono" href={addressOf(["runs", runId, name], { attempt: String(attempt) })}>
              {name}
            </a>{" "}
            {recoveryWords(recovery)}
            {endWords(recovery)}
          </span>
          <LadderStrip marks={marksOf(RUNGS, [considered])} />
        </div>
        {error !== null && <div className="er">{error.message}</div>}
        <p>
          {error !== null && `${error.code}, ${error.class}. `}
          {sentence(withoutCode(reason, error?.code))}. {cost} {left}
        </p>
      </div>
    </li>
  );
}

/** "hotel was undone by cancel-hotel; flight is not undone." */
function undoneText({ done, left }: NonNullable<RunSummary["undone"]>): string {
  const parts = [
    ...done.map(({ step, scope, by }) => `${nameOf(step, scope)} was undone by ${by}`),
    ...left.map(({ step, scope, by }) =>
      by === null ? `${nameOf(step, scope)} is not undone` : `${by} undoes ${nameOf(step, scope)}`,
    ),
  ];
  return `${parts.join("; ")}.`;
}

interface OutcomeProps {
  readonly runId: number;
  readonly step: string;
  readonly tone: "person" | "bad" | "dim";
  readonly words: string;
  readonly message: string | undefined;
  readonly more?: string;
  /** The message is that of a failure. */
  readonly isError?: boolean;
}

export function Outcome({
  runId,
  step,
  tone,
  words,
  message,
  more,
  isError = true,
}: OutcomeProps): ReactNode {
  return (
    <li>
      <span />
      <div>
        <div className={`ti ${tone}`}>
          <a className="mono" href={addressOf(["runs", runId, step])}>
            {step}
          </a>{" "}
          {words}
        </div>
        {message !== undefined && <div className={isError ? "er" : undefined}>{message}</div>}
        {more !== undefined && <p>{more}</p>}
      </div>
    </li>
  );
}
