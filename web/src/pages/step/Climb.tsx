import type { ReactNode } from "react";
import { nameOf } from "../../../../src/report/lookup/job-name.js";
import { addressOf } from "../../place.js";
import type { JobDetails } from "../../words/status.js";
import { RUNGS } from "./rungs.js";

/** Rungs by attempts: every failure climbs from the bottom until a rung acts. */
export function Climb({
  job,
  chosen,
}: {
  readonly job: JobDetails;
  readonly chosen: number | null;
}): ReactNode {
  const climbs = job.diagnostics;
  const shown = climbs.find(({ attempt }) => attempt === chosen) ?? climbs.at(-1);
  const step = nameOf(job.step, job.scope);
  return (
    <section>
      <h2>
        The ladder <span className="small dim">every failure climbs from the bottom until a rung acts</span>
      </h2>
      <table className="climb-table panel">
        <thead>
          <tr>
            <th>rung</th>
            {climbs.map(({ attempt }) => (
              <th key={attempt} className={attempt === shown?.attempt ? "sel" : undefined}>
                <a href={addressOf(["runs", job.run_id, step], { attempt: String(attempt) })}>{attempt}</a>
              </th>
            ))}
            <th>why, attempt {shown?.attempt}</th>
          </tr>
        </thead>
        <tbody>
          {RUNGS.toReversed().map((rung) => {
            const reason = shown?.considered.find((one) => one.rung === rung);
            return (
              <tr key={rung}>
                <th scope="row">{rung}</th>
                {climbs.map(({ attempt, considered }) => {
                  const cell = considered.find((one) => one.rung === rung);
                  return (
                    <td key={attempt} className={attempt === shown?.attempt ? "sel" : undefined}>
                      {cell !== undefined && (
                        <Cell rung={rung} applied={cell.applied} isUnset={cell.kind === "not_configured"} />
                      )}
                    </td>
                  );
                })}
                <td className={reason?.applied ? "why hit" : "why"}>
                  {reason === undefined
                    ? "not reached"
                    : `${reason.applied ? "yes" : "no"}, ${reason.reason}`}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function Cell({
  rung,
  applied,
  isUnset,
}: {
  readonly rung: string;
  readonly applied: boolean;
  readonly isUnset: boolean;
}): ReactNode {
  if (!applied) return <span className={isUnset ? "cell off" : "cell no"} />;
  return (
    <span className={`cell ${rung === "hold" || rung === "fail" ? rung : "act"}`}>
      {rung === "fail" ? "×" : "↑"}
    </span>
  );
}
