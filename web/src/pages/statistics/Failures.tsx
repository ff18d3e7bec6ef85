import type { ReactNode } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { helperText } from "../../../../src/tell/words/remedy-words.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { LadderStrip } from "../../parts/Ladder.js";
import { Listing } from "../../parts/Listing.js";
import { addressOf } from "../../place.js";
import { marksOf, numberText, percentText, type Stats, sortHelpers } from "../../words/statistics.js";
import { RUNGS } from "../step/rungs.js";

interface Asked {
  readonly since: string;
  readonly workflow: string | null;
}

const SHOWN = 8;

function asked({ since, workflow }: Asked) {
  return { since, ...(workflow === null ? {} : { workflow }), limit: SHOWN };
}

/** The failure book's entries, one for each signature. */
export function Failures({ since, workflow }: Asked): ReactNode {
  const query = { ...asked({ since, workflow }), state: ["all" as const] };
  const { data } = useLive(
    JSON.stringify(query),
    () => dataOf(api.GET("/api/v1/failures", { params: { query } })),
    () => false,
  );
  return (
    <section className="panel" aria-label="Failures">
      <header>
        <h2>Failures, newest first</h2>
        <span className="small dim end">counted since they were first seen</span>
      </header>
      {data !== null && data.items.length === 0 && <p className="small dim pad">Nothing has failed.</p>}
      {data !== null && data.items.length > 0 && (
        <Listing
          items={data.items}
          keyOf={({ workflow: of, step, signature }) => `${of} ${step} ${signature}`}
          columns={[
            {
              name: "What",
              look: "wide cut",
              title: ({ sample }) => sample,
              cell: ({ last_run, last_step, step, sample }) => (
                <a href={addressOf(["runs", last_run, last_step ?? step])}>{sample}</a>
              ),
            },
            {
              name: "Step",
              look: "of cut",
              title: ({ step, workflow: of }) => `${step} in ${of}`,
              cell: ({ step, workflow: of }) => (
                <span>
                  <span className="mono-s">{step}</span> <span className="dim small">{of}</span>
                </span>
              ),
            },
            {
              name: "Ladder",
              // The book knows which rung acted only after a job has ended.
              cell: ({ rescues }) => rescues.length > 0 && <LadderStrip marks={marksOf(rescues)} />,
            },
            {
              name: "What rescued it",
              look: "small dim",
              cell: ({ rescued_by }) => (rescued_by === "" ? "nothing yet" : rescued_by),
            },
            { name: "Runs", look: "r", cell: ({ runs }) => numberText(runs) },
            { name: "Met", look: "r", cell: ({ occurrences }) => numberText(occurrences) },
          ]}
        />
      )}
    </section>
  );
}

/** Steps that passed only by retrying, the costliest first. */
export function Flakes({ since, workflow }: Asked): ReactNode {
  const query = asked({ since, workflow });
  const { data } = useLive(
    JSON.stringify(query),
    () => dataOf(api.GET("/api/v1/flakes", { params: { query } })),
    () => false,
  );
  return (
    <section className="panel" aria-label="Flaky steps">
      <header>
        <h2>Flaky steps</h2>
        <span className="small dim end">passed by retry alone</span>
      </header>
      {data !== null && data.items.length === 0 && <p className="small dim pad">None.</p>}
      {data !== null && data.items.length > 0 && (
        <Listing
          items={data.items}
          keyOf={({ workflow: of, step }) => `${of} ${step}`}
          columns={[
            {
              name: "Step",
              look: "wide cut",
              title: ({ step, workflow: of }) => `${step} in ${of}`,
              cell: ({ step, workflow: of, last_run, last_step }) => (
                <>
                  <a className="mono-s" href={addressOf(["runs", last_run, last_step ?? step])}>
                    {step}
                  </a>{" "}
                  <span className="dim small">{of}</span>
                </>
              ),
            },
            { name: "Trend", look: "small dim", cell: ({ trend }) => trend },
            { name: "Cost", look: "r small", cell: ({ cost_ms }) => durationText(cost_ms) },
            {
              name: "Of its jobs",
              look: "r",
              title: ({ flaky, jobs }) => `${flaky} of ${jobs} jobs`,
              cell: ({ flaky, jobs }) => percentText(flaky, jobs),
            },
          ]}
        />
      )}
    </section>
  );
}

/** For each rung, how many of the jobs it acted on were rescued. */
export function Rungs({ stats }: { readonly stats: Stats }): ReactNode {
  const helpers = sortHelpers(stats.rungs, RUNGS);
  return (
    <section className="panel" aria-label="What rescued runs">
      <header>
        <h2>What rescued runs</h2>
        <span className="key end">
          <span>
            <i className="k-rescued" />
            rescued
          </span>
          <span>
            <i className="k-not" />
            did not
          </span>
        </span>
      </header>
      {helpers.length === 0 ? (
        <p className="small dim pad">No job that met a failure has ended yet.</p>
      ) : (
        <table className="hbars">
          <thead className="sr">
            <tr>
              <th>Rung</th>
              <th>Share</th>
              <th>Rescued, of all jobs that it acted on</th>
            </tr>
          </thead>
          <tbody>
            {helpers.map(({ by, rescued, not_rescued }) => (
              <tr key={by}>
                <th className="mono-s" scope="row">
                  {helperText(by)}
                </th>
                <td className="track" aria-hidden="true">
                  <span className="all">
                    <i className="won" style={{ width: `${(100 * rescued) / (rescued + not_rescued)}%` }} />
                  </span>
                </td>
                <td className="r small dim">
                  <b>{numberText(rescued)}</b> of {numberText(rescued + not_rescued)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
