import { type ReactNode, useState } from "react";
import { durationText } from "../../../../src/report/words/duration-text.js";
import { Doll } from "../../parts/Doll.js";
import { Icon } from "../../parts/Icon.js";
import { count, standingOf } from "../../words/status.js";
import { exactTime, namedTime } from "../../words/times.js";
import { failuresMet } from "./moments.js";
import type { RunSummary, TimelineData } from "./run-data.js";

interface HeadProps {
  readonly run: RunSummary;
  readonly log: TimelineData | null;
  /** What can be done with the run; on a phone behind a button. */
  readonly controls: ReactNode;
  /** Beside it. */
  readonly children?: ReactNode;
}

/** What a run that has not started waits for, with its position in the queue. */
function queueText({ position, text }: NonNullable<HeadProps["run"]["waits_for"]>): string {
  return position === null ? text : `Position ${position} in the queue: ${text}`;
}

/** How a run stands, or stood at a moment of the past. */
export function RunHead({ run, log, controls, children }: HeadProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const recoveries = run.recoveries.length;
  const standing = standingOf(run, { recoveries, handled: run.handled_failures.length });
  const isPast = run.at !== null;
  const met = log === null || isPast ? 0 : failuresMet(log);
  const by = run.live_control.takeover ? "Taken over" : null;
  return (
    <header className={isOpen ? "runhead open" : "runhead"}>
      <Doll face={standing.face} size="l" />
      <div className="grow">
        <div className="row headline" title={`${run.workflow} #${run.run_id}: ${standing.words}`}>
          <h2 className="title">
            {run.workflow} <span className="num dim">#{run.run_id}</span>
          </h2>
          <b className={standing.tone}>
            {isPast ? `Was ${standing.words.toLowerCase()} at this moment` : (by ?? standing.words)}
          </b>
          {recoveries > 0 && (isPast || standing.face !== "recovered") && (
            <span className="chip gold">{count(recoveries, "recovery", "recoveries")}</span>
          )}
          {run.imported && <span className="chip line">imported</span>}
          {run.concurrency !== null && (
            <span className="chip line hide-s">group {run.concurrency.group}</span>
          )}
          {run.priority !== 0 && <span className="chip line hide-s">priority {run.priority}</span>}
          {Object.entries(run.labels).map(([key, value]) => (
            <span key={key} className="chip line hide-s hide-n">
              {key}={value}
            </span>
          ))}
        </div>
        <div className="meta num" title={run.summary.counts.join(", ")}>
          <span>{run.summary.counts.join(", ")}</span>
          {met > 0 && <span>{count(met, "failure")} met</span>}
          {run.at !== null && <span>at {exactTime(run.at.time)}</span>}
          <span className="hide-s hide-n">started {namedTime(run.created_at)}</span>
          {run.duration_ms !== null && <span>took {durationText(run.duration_ms)}</span>}
          {run.waits_for !== null && <span>{queueText(run.waits_for)}</span>}
          {run.undone !== null && run.undone.done.length > 0 && <span>{run.undone.done.length} undone</span>}
          {run.undone !== null && run.undone.left.length > 0 && (
            <span className={run.finished_at === null ? "" : "bad"}>
              {run.undone.left.length} {run.finished_at === null ? "to undo" : "not undone"}
            </span>
          )}
          {run.left_alone !== null && <span className="bad">{run.left_alone.message}</span>}
        </div>
      </div>
      {controls !== null && (
        <>
          <button
            type="button"
            className="btn icon only-s"
            aria-label="Controls"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="more" />
          </button>
          {controls}
        </>
      )}
      {children}
    </header>
  );
}
