import { Fragment, type ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { RungCells } from "../../parts/RungCells.js";
import type { Problem } from "../../words/problems.js";
import { count } from "../../words/status.js";
import { type TriedLine, triedLines } from "./tried-lines.js";

const MOST = 6;

/** The rungs of the ladder by name, and the outcome of each attempt of the newest run. */
export function WhatWasTried({ problem }: { readonly problem: Problem }): ReactNode {
  const { ladder, ladder_differs: differs, runs, tried } = problem;
  const [newest] = problem.items;
  const { data } = useLive(
    `tried ${newest?.job_id}`,
    async () =>
      newest === undefined
        ? null
        : dataOf(api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: String(newest.job_id) } } })),
    (runId) => runId === newest?.run_id,
  );
  const { lines, before } = data === null ? { lines: [], before: 0 } : triedLines(data, MOST);
  return (
    <section>
      <h3>
        What was tried
        {differs !== null && runs > 1 && (
          <span className="dim small">
            {differs.runs === 0
              ? `the same in ${differs.of === runs ? `all ${runs}` : `the newest ${differs.of}`} runs`
              : `in the newest run; differs in ${count(differs.runs, "run")}`}
          </span>
        )}
      </h3>
      <RungCells marks={ladder as never} />
      <p className="small dim">
        {before > 0 && `${count(before, "attempt")} before. `}
        {lines.length === 0
          ? tried
          : lines.map((line) => (
              <Fragment key={line.attempt}>
                <Line line={line} />{" "}
              </Fragment>
            ))}
      </p>
    </section>
  );
}

function Line({ line: { attempt, words, rung, reason } }: { readonly line: TriedLine }): ReactNode {
  const told = `Attempt ${attempt} ${words}; `;
  if (rung === "hold" || rung === "fail")
    return (
      <>
        {told}
        {reason}, so it {rung === "hold" ? "is " : ""}
        <b className={rung === "hold" ? "person" : "bad"}>{rung === "hold" ? "held" : "failed"}</b>.
      </>
    );
  return (
    <>
      {told}
      <b className="mended">{rung}</b> {reason}.
    </>
  );
}
