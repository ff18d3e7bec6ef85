import type { ReactNode } from "react";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { Cut } from "../../parts/Cut.js";
import { Glyph } from "../../parts/Glyph.js";
import { count, type JobStatus } from "../../words/status.js";
import type { DrawnNode } from "./run-data.js";

/** The step that the controls apply to. */
export function SelectedBar({
  node,
  name,
  isAsking,
  isPast,
  children,
}: {
  readonly node: DrawnNode;
  readonly name: string;
  /** The step waits for a person's answer. */
  readonly isAsking: boolean;
  readonly isPast: boolean;
  /** Links to further pages. */
  readonly children: ReactNode;
}): ReactNode {
  const cell = node.jobs?.cells.find(({ scope }) => nameOf(node.step ?? "", scope) === name);
  const one = node.jobs !== null && node.jobs.total > 1 ? cell : undefined;
  const status = one?.status ?? node.status ?? "blocked";
  const isHandled = one?.handled ?? (node.jobs?.handled ?? 0) > 0;
  const attempts = node.jobs?.attempts ?? 0;
  const many = one === undefined && node.jobs !== null && node.jobs.total > 1;
  return (
    <div className="selbar">
      <Glyph
        status={
          isHandled && status === "failed" ? "handled" : isAsking && status === "waiting" ? "asking" : status
        }
      />
      <b className="mono">{name}</b>
      <Cut className="dim">
        {isAsking && status === "waiting" ? "asks a question" : status}
        {!many && one === undefined && attempts > 1 ? attemptWords(status, attempts) : ""}
        {isHandled ? ", handled" : ""}
        {isPast ? " at this moment" : ""}
        {many ? `, ${count(node.jobs!.total, "item")}` : ""}
      </Cut>
      <span className="end" />
      {children}
    </div>
  );
}

/** The status of a step with several attempts: "failed on attempt 2", "held after 3 attempts". */
function attemptWords(status: JobStatus, attempts: number): string {
  return status === "completed" || status === "failed" || status === "running"
    ? ` on attempt ${attempts}`
    : ` after ${count(attempts, "attempt")}`;
}
