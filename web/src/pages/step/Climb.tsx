import type { ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLast, useLive } from "../../api/use-live.js";
import { Cut } from "../../parts/Cut.js";
import type { JobDetails } from "../../words/status.js";
import { type Column, climbColumns, RUNGS } from "./rungs.js";

const HEAD_PX = 26;
const ROW_PX = 28;
const COLUMN_PX = 30;

interface ClimbProps {
  readonly job: JobDetails;
  readonly chosen: number | null;
  readonly hrefOf: (attempt: number) => string;
}

/** A table of rungs by attempts, the lowest rung at the bottom: every failure climbs until a rung acts. */
export function Climb({ job, chosen, hrefOf }: ClimbProps): ReactNode {
  const { columns, leftOff } = climbColumns(job.diagnostics, chosen);
  const shown = columns.find(({ attempt }) => attempt === chosen) ?? columns.at(-1);
  const left = useLeft(job);
  return (
    <section>
      <h2>
        The ladder{" "}
        <span className="small dim plain">every failure climbs from the bottom until a rung acts</span>
      </h2>
      <div className="climbbox">
        <table className="climbtable" aria-label="Which rung answered each attempt">
          <thead>
            <tr>
              <th scope="col" className="rn">
                rung
              </th>
              {columns.map(({ attempt }) => (
                <th scope="col" key={attempt} className={attempt === shown?.attempt ? "c sel" : "c"}>
                  <a href={hrefOf(attempt)} aria-label={`Attempt ${attempt}`}>
                    {attempt}
                  </a>
                </th>
              ))}
              <th scope="col" className="why">
                why, attempt {shown?.attempt}
              </th>
            </tr>
          </thead>
          <tbody>
            {RUNGS.toReversed().map((rung) => (
              <Row key={rung} rung={rung} columns={columns} shown={shown} />
            ))}
          </tbody>
        </table>
        <Line columns={columns} />
      </div>
      {leftOff > 0 && <p className="small dim">{leftOff} earlier attempts are not in the picture.</p>}
      <p className="small dim left">
        {left?.find(({ attempt }) => attempt === shown?.attempt)?.text ?? "\u00a0"}
      </p>
    </section>
  );
}

/** What remained of each rung after each failed attempt. It changes only when another attempt fails. */
function useLeft({ id, run_id, diagnostics }: JobDetails) {
  const query = { step: String(id) };
  const { data } = useLive(
    `left ${id} ${diagnostics.length}`,
    () => dataOf(api.GET("/api/v1/runs/{run_id}/explanation", { params: { path: { run_id }, query } })),
    () => false,
  );
  return useLast(data)?.left ?? null;
}

interface RowProps {
  readonly rung: string;
  readonly columns: readonly Column[];
  readonly shown: Column | undefined;
}

function Row({ rung, columns, shown }: RowProps): ReactNode {
  const reason = shown?.considered.find((one) => one.rung === rung);
  const words = reason === undefined ? "not reached" : `${reason.applied ? "yes" : "no"}, ${reason.reason}`;
  const hit = reason?.applied === true ? `hit ${rung}` : "";
  return (
    <tr>
      <th scope="row" className={`rn ${hit}`}>
        {rung}
      </th>
      {columns.map(({ attempt, considered }) => {
        const cell = considered.find((one) => one.rung === rung);
        return (
          <td key={attempt} className={attempt === shown?.attempt ? "c sel" : "c"}>
            {cell !== undefined && (
              <Cell
                attempt={attempt}
                rung={rung}
                applied={cell.applied}
                isUnset={cell.kind === "not_configured"}
              />
            )}
          </td>
        );
      })}
      <td className={`why ${hit}`}>
        <Cut lines={2} title={`${rung}: ${words}`}>
          {words}
        </Cut>
      </td>
    </tr>
  );
}

function Cell({
  attempt,
  rung,
  applied,
  isUnset,
}: {
  readonly attempt: number;
  readonly rung: string;
  readonly applied: boolean;
  readonly isUnset: boolean;
}): ReactNode {
  const words = `attempt ${attempt}, ${rung}: ${applied ? "acted" : isUnset ? "not set" : "no"}`;
  if (!applied) return <span className={isUnset ? "cell off" : "cell no"} role="img" aria-label={words} />;
  const look = rung === "hold" || rung === "fail" ? rung : "act";
  return (
    <span className={`cell ${look}`} role="img" aria-label={words}>
      {rung === "fail" ? "×" : rung === "hold" ? "‖" : "↑"}
    </span>
  );
}

/** Connects the acting rungs from attempt to attempt. */
function Line({ columns }: { readonly columns: readonly Column[] }): ReactNode {
  const width = columns.length * COLUMN_PX;
  const height = HEAD_PX + RUNGS.length * ROW_PX;
  const points = columns.map(({ rung }, place) => {
    const row = RUNGS.length - 1 - RUNGS.indexOf(rung as (typeof RUNGS)[number]);
    return `${place * COLUMN_PX + COLUMN_PX / 2},${HEAD_PX + row * ROW_PX + ROW_PX / 2}`;
  });
  return (
    <svg
      className="climbline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      <polyline points={points.join(" ")} />
    </svg>
  );
}
