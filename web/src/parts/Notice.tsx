import type { ReactNode } from "react";
import type { Problem } from "../api/client.js";

/** What the server refused, what was not done, and the one next step. */
export function Refused({ problem }: { readonly problem: Problem }): ReactNode {
  if (problem.status === 401) return null;
  return (
    <div className="banner bad" role="alert">
      <div>
        <b>{problem.message}</b> <span className="chip mono line">{problem.code}</span>
        {problem.hint !== null && <p className="small dim">{problem.hint}</p>}
        {problem.reference !== null && <Reference reference={problem.reference} />}
      </div>
    </div>
  );
}

/** By which whoever runs the server finds the fault in its log. */
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
