import type { ReactNode } from "react";
import type { Problem as Refusal } from "../../api/client.js";
import { Refused } from "../../parts/Notice.js";
import { count } from "../../words/status.js";
import type { ActionName, Outcome } from "./actions.js";

interface PreviewProps {
  readonly action: ActionName;
  readonly outcome: Outcome | null;
  readonly refusal: Refusal | null;
  readonly runs: number;
  /** Steps that wait for it. */
  readonly blocked: readonly string[];
  /** Continues without the jobs that were refused. */
  readonly onLeaveOut: (jobs: readonly number[]) => void;
}

const MAX_TOLD = 6;

/** Shows the result of a dry run. It keeps its space while the request is in progress. */
export function Preview({ action, outcome, refusal, runs, blocked, onLeaveOut }: PreviewProps): ReactNode {
  if (refusal !== null) return <Refused problem={refusal} />;
  if (outcome === null) return <div className="preview">Checking what will happen</div>;
  const refused = outcome.results.filter(({ ok }) => !ok);
  return (
    <div className="preview" role="status">
      <div>
        <b>What will happen</b> in {count(runs, "run")}, checked just now
      </div>
      <Changes action={action} outcome={outcome} runs={runs} />
      {waits(action) && blocked.length > 0 && refused.length === 0 && (
        <div>
          <span className="mono-s">{named(blocked)}</span> {blocked.length === 1 ? "stays" : "stay"} blocked
          until it completes. Nothing else changes.
        </div>
      )}
      {refused.slice(0, MAX_TOLD).map(({ job_id, run_id, error }) => (
        <div key={job_id} className="bad">
          Run {run_id}: {error?.message} ({error?.code})
        </div>
      ))}
      {refused.length > 0 && (
        <div className="row">
          <span>
            {refused.length} of {outcome.results.length} would be refused, so nothing would change
          </span>
          {refused.length < outcome.results.length && (
            <button
              type="button"
              className="btn end"
              onClick={() => onLeaveOut(refused.map(({ job_id }) => job_id))}
            >
              Leave {refused.length === 1 ? "it" : "them"} out
            </button>
          )}
        </div>
      )}
    </div>
  );
}

const WORDS: { readonly [name in ActionName]?: string } = {
  fork: "A new run takes over what completed before the step, and runs the rest. The old run stays as it is",
  set_aside: "It leaves the inbox, and comes back if a run fails with it again. No run changes",
};

function waits(action: ActionName): boolean {
  return action === "retry" || action === "redrive" || action === "hard_reset";
}

function Changes({
  action,
  outcome,
  runs,
}: {
  readonly action: ActionName;
  readonly outcome: Outcome;
  readonly runs: number;
}): ReactNode {
  const words = WORDS[action];
  if (words !== undefined) return <div>{words}</div>;
  const changes = new Map<string, number>();
  for (const { changed } of outcome.runs)
    for (const { step, from, to } of changed) {
      const line = `${step} ${from === null ? "new" : from} → ${to}`;
      changes.set(line, (changes.get(line) ?? 0) + 1);
    }
  const lines = [...changes];
  return (
    <>
      {lines.slice(0, MAX_TOLD).map(([line, times]) => (
        <div key={line}>
          <span className="mono-s">{line}</span>
          {times !== runs && ` in ${count(times, "run")}`}
        </div>
      ))}
      {lines.length > MAX_TOLD && <div>and {lines.length - MAX_TOLD} more changes</div>}
    </>
  );
}

function named(names: readonly string[]): string {
  const told = names.slice(0, MAX_TOLD).join(", ");
  return names.length > MAX_TOLD ? `${told} and ${names.length - MAX_TOLD} more` : told;
}
