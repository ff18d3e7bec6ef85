import type { ReactNode } from "react";
import { nameOf } from "../../../../src/report/lookup/job-name.js";
import { addressOf } from "../../place.js";
import { type Recovery, recoveryWords } from "../../words/recoveries.js";
import { count, type RunDetails } from "../../words/status.js";

/** What was tried and why, one number for each recovery. */
export function Story({
  run,
  recoveries,
}: {
  readonly run: RunDetails;
  readonly recoveries: readonly Recovery[];
}): ReactNode {
  const held = run.jobs.filter(({ status }) => status === "pending_failed");
  const failed = run.jobs.filter(({ status, handled }) => status === "failed" && !handled);
  return (
    <ol className="story">
      {recoveries.map((recovery) => (
        <li key={recovery.number} className={recovery.rung === "edge" ? "edge" : undefined}>
          <span className={recovery.rung === "edge" ? "n bad" : "n"}>{recovery.number}</span>
          <div>
            <div className="ti">
              <a
                className="mono"
                href={addressOf(["runs", run.run_id, nameOf(recovery.step, recovery.scope)], {
                  attempt: String(recovery.attempt),
                })}
              >
                {nameOf(recovery.step, recovery.scope)}
              </a>{" "}
              {recoveryWords(recovery)}
            </div>
            <div className="small dim">
              {recovery.rung}: {recovery.reason}
            </div>
          </div>
        </li>
      ))}
      {held.map((job) => (
        <Outcome
          key={job.id}
          runId={run.run_id}
          step={nameOf(job.step, job.scope)}
          tone="person"
          words="waits for a person"
          message={job.error?.message}
        />
      ))}
      {failed.map((job) => (
        <Outcome
          key={job.id}
          runId={run.run_id}
          step={nameOf(job.step, job.scope)}
          tone="bad"
          words="failed"
          message={job.error?.message}
        />
      ))}
      <li className="plain dim">
        {recoveries.length === 0
          ? "Nothing had to be recovered. "
          : `${count(recoveries.length, "recovery", "recoveries")}. `}
        {run.summary.counts.join(", ")}.
      </li>
    </ol>
  );
}

interface OutcomeProps {
  readonly runId: number;
  readonly step: string;
  readonly tone: "person" | "bad";
  readonly words: string;
  readonly message: string | undefined;
}

function Outcome({ runId, step, tone, words, message }: OutcomeProps): ReactNode {
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
        {message !== undefined && <div className="eline mono-s bad">{message}</div>}
      </div>
    </li>
  );
}
