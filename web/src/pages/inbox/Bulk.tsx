import { type ReactNode, useState } from "react";
import { Doll } from "../../parts/Doll.js";
import { LadderStrip } from "../../parts/Ladder.js";
import type { Problem } from "../../words/problems.js";
import { count } from "../../words/status.js";
import { commonActions } from "./actions.js";
import { Plan } from "./Plan.js";

interface BulkProps {
  readonly problems: readonly Problem[];
  readonly onDecided: (words: string) => void;
}

const MAX_RUNS_TOLD = 20;

/** Decides several problems with one plan. */
export function Bulk({ problems, onDecided }: BulkProps): ReactNode {
  const [leftOut, setLeftOut] = useState<ReadonlySet<number>>(new Set());
  const items = problems.flatMap((problem) => problem.items);
  const jobs = items.filter(({ job_id }) => !leftOut.has(job_id));
  const runs = new Set(jobs.map(({ run_id }) => run_id)).size;
  const actions = commonActions(problems);
  const signatures = new Set(problems.map(({ signature }) => signature)).size;
  return (
    <>
      <header className="row top-of-detail">
        <Doll face="held" size="l" />
        <div className="grow">
          <h2>
            {count(problems.length, "problem")}, {count(runs, "run")}
          </h2>
          <p className="dim">
            One decision and one reason for all of them. Every job is checked first; if one is refused,
            nothing changes.
          </p>
        </div>
      </header>
      {signatures > 1 && (
        <p className="banner warn" role="note">
          <span>
            <b>{signatures} different failures.</b> What mends one of them may not mend the others.
          </span>
        </p>
      )}
      {actions.length === 0 ? (
        <p className="banner">These problems have no decision in common: decide them one by one.</p>
      ) : (
        <Plan
          key={actions.map(({ name }) => name).join()}
          problems={problems}
          jobs={jobs}
          actions={actions}
          onLeaveOut={(more) => setLeftOut(new Set([...leftOut, ...more]))}
          onDecided={onDecided}
        />
      )}
      {problems.map((problem) => (
        <div key={problem.id} className="panel">
          <header>
            <b className="mono">{problem.step}</b>
            <span className="dim cut">in {problem.workflow}</span>
            {problem.error !== null && <span className="chip mono line">{problem.error.code}</span>}
            <span className="end">
              {problem.question === null && <LadderStrip marks={problem.ladder as never} />}
            </span>
          </header>
          <div className="pad small">
            <div>{problem.title}</div>
            <div className="dim">
              {count(problem.runs, "run")}:{" "}
              {problem.items
                .slice(0, MAX_RUNS_TOLD)
                .map(({ run_id }) => `#${run_id}`)
                .join(" ")}
              {problem.items.length > MAX_RUNS_TOLD && ` and ${problem.items.length - MAX_RUNS_TOLD} more`}
            </div>
            {problem.jobs > problem.items.length && (
              <div className="dim">
                Only the newest {problem.items.length} of {problem.jobs} are decided here.
              </div>
            )}
          </div>
        </div>
      ))}
    </>
  );
}
