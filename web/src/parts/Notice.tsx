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
        {problem.reference !== null && <p className="mono-s">reference {problem.reference}</p>}
      </div>
    </div>
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
