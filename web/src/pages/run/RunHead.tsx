import type { ReactNode } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { handledText, strictText } from "../../../../src/tell/words/handled-text.js";
import { Doll } from "../../parts/Doll.js";
import { HeadLines, PageHead } from "../../parts/PageHead.js";
import { sentence } from "../../words/moment.js";
import { count } from "../../words/status.js";
import { exactTime, namedTime } from "../../words/times.js";
import { withMarks } from "../../words/unseen.js";
import { failuresMet } from "./moments.js";
import type { RunSummary, TimelineData } from "./run-data.js";
import { runStanding } from "./run-standing.js";

interface HeadProps {
  readonly run: RunSummary;
  readonly log: TimelineData | null;
  /** The controls of the run. On a phone they are behind a button. */
  readonly controls: ReactNode;
  /** Shown beside the controls. */
  readonly children?: ReactNode;
}

/** The status of a run, now or at a past moment. */
export function RunHead({ run, log, controls, children }: HeadProps): ReactNode {
  const standing = runStanding(run);
  return (
    <PageHead controls={controls} beside={children}>
      <Doll face={standing.face} size="l" />
      <HeadLines
        label="About this run"
        headline={
          <>
            <h2 className="title">
              <span className="cut">{run.workflow}</span> <span className="num dim">#{run.run_id}</span>
            </h2>
            <b className={standing.tone}>
              {run.at === null ? standing.words : `Was ${standing.words.toLowerCase()} at this moment`}
            </b>
            <Chips run={run} isRecovered={run.at === null && standing.face === "recovered"} />
          </>
        }
        meta={<Meta run={run} log={log} />}
      />
    </PageHead>
  );
}

function Chips({ run, isRecovered }: { readonly run: RunSummary; readonly isRecovered: boolean }): ReactNode {
  const recoveries = run.recoveries.length;
  return (
    <>
      {recoveries > 0 && !isRecovered && (
        <span className="chip gold">{count(recoveries, "recovery", "recoveries")}</span>
      )}
      <span className="chips">
        {run.imported && <span className="chip line">imported</span>}
        {run.concurrency !== null && <span className="chip line hide-s">group {run.concurrency.group}</span>}
        {run.priority !== 0 && <span className="chip line hide-s">priority {run.priority}</span>}
        {Object.entries(run.labels).map(([key, value]) => (
          <span key={key} className="chip line hide-s">
            {withMarks(`${key}=${value}`)}
          </span>
        ))}
      </span>
    </>
  );
}

/** Facts about the run. Those that need somebody come first, because the end may be cut off. */
function Meta({ run, log }: { readonly run: RunSummary; readonly log: TimelineData | null }): ReactNode {
  const met = log === null || run.at !== null ? 0 : failuresMet(log);
  const isPending = run.status === "pending";
  const handled = run.status === "completed" ? handledText(run) : null;
  return (
    <>
      {run.left_alone !== null && <span className="bad">{run.left_alone.message}</span>}
      {run.waits_for !== null && <span className="wait">{queueText(run.waits_for)}</span>}
      <Undone run={run} />
      {run.at !== null && <span>at {exactTime(run.at.time)}</span>}
      <span>{run.summary.counts.join(", ")}</span>
      {handled !== null && <span className="gold">{withMarks(handled)}</span>}
      {handled !== null && strictText(run) !== null && <span className="bad">{strictText(run)}</span>}
      {met > 0 && <span>{count(met, "failure")} met</span>}
      {run.loops !== null && <span>{loopsText(run.loops)}</span>}
      {run.duration_ms !== null && <span>took {durationText(run.duration_ms)}</span>}
      <span className="hide-s hide-n" title={exactTime(run.created_at)}>
        v{run.version}, {isPending ? "created" : "started"} {namedTime(run.created_at)}
      </span>
    </>
  );
}

function Undone({ run: { undone, finished_at } }: { readonly run: RunSummary }): ReactNode {
  if (undone === null) return null;
  const { done, left } = undone;
  const isOver = finished_at !== null;
  return (
    <>
      {done.length > 0 && <span>{done.length} undone</span>}
      {left.length > 0 && (
        <span className={isOver ? "bad" : undefined}>
          {left.length} {isOver ? "not undone" : "to undo"}
        </span>
      )}
    </>
  );
}

/** What a run waits for before it starts, with its position in the queue. */
function queueText({ position, text }: NonNullable<RunSummary["waits_for"]>): string {
  return position === null ? sentence(text) : `Position ${position} in the queue: ${text}`;
}

function loopsText({ taken, max, scope }: NonNullable<RunSummary["loops"]>): string {
  return `${taken} of ${max} loops${scope === "root" ? "" : ` of ${scope.replace(/^root\//, "")}`}`;
}
