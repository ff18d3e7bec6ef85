import { type ReactNode, useEffect, useState } from "react";
import type { Problem } from "../api/client.js";
import { addressOf } from "../place.js";

/** A refusal: what was refused, what was not done, and the next step. */
export function Refused({ problem }: { readonly problem: Problem }): ReactNode {
  if (problem.status === 401) return null;
  return (
    <div className="banner bad" role="alert">
      <div>
        <b>{problem.message}</b> <span className="chip mono line">{problem.code}</span>
        <NextStep problem={problem} />
        {problem.reference !== null && <Reference reference={problem.reference} />}
      </div>
    </div>
  );
}

/** Pages that list what was not found. They replace the server's hints, which name its operations. */
const LISTS: { readonly [code: string]: readonly [page: string, words: string] } = {
  RUN_NOT_FOUND: ["runs", "See all runs"],
  JOB_NOT_FOUND: ["runs", "See all runs"],
  STEP_NOT_FOUND: ["runs", "See all runs"],
  WORKFLOW_NOT_FOUND: ["workflows", "See all workflows"],
  SCHEDULE_NOT_FOUND: ["schedules", "See all schedules"],
};

function NextStep({ problem: { code, hint } }: { readonly problem: Problem }): ReactNode {
  const list = LISTS[code];
  if (list !== undefined)
    return (
      <p className="small">
        <a href={addressOf([list[0]])}>{list[1]}</a>
      </p>
    );
  return hint === null ? null : <p className="small dim">{hint}</p>;
}

/** The reference by which an operator finds the fault in the server's log. */
function Reference({ reference }: { readonly reference: string }): ReactNode {
  return (
    <p className="mono-s">
      reference {reference}{" "}
      <button type="button" className="link" onClick={() => void navigator.clipboard?.writeText(reference)}>
        Copy<span className="sr"> the reference</span>
      </button>
    </p>
  );
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <div className="dim">{children}</div>
    </div>
  );
}

/** Content that arrives sooner needs no placeholder. */
const PATIENCE_MS = 300;

/** Placeholder rows without animation. */
export function Skeleton({ rows = 8 }: { readonly rows?: number }): ReactNode {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div className="skeleton" role="status">
      <span className="sr">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={index} className="sk-row" aria-hidden="true">
          <i className="sk" />
          <i className="sk" />
          <i className="sk" />
        </div>
      ))}
    </div>
  );
}
