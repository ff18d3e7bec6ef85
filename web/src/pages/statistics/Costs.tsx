import type { ReactNode } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { Listing } from "../../parts/Listing.js";
import { addressOf } from "../../place.js";
import { numberText, type Stats } from "../../words/statistics.js";

const SHOWN = 8;

/** The time that failures cost, by workflow, the most expensive first. */
export function Costs({ stats }: { readonly stats: Stats }): ReactNode {
  const rows = stats.by_workflow.filter(({ running_ms }) => running_ms > 0).slice(0, SHOWN);
  if (rows.length === 0) return null;
  return (
    <section className="panel" aria-label="Cost of trying again">
      <header>
        <h2>Cost of trying again</h2>
        <span className="key end">
          <span>
            <i className="k-at_once" />
            work that counted
          </span>
          <span>
            <i className="k-lost" />
            attempts that did not
          </span>
          <span>
            <i className="k-rescued" />
            waiting for retries
          </span>
        </span>
      </header>
      <table className="hbars">
        <thead className="sr">
          <tr>
            <th>Workflow</th>
            <th>Share</th>
            <th>Lost, waited, of all</th>
            <th>Attempts until success</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ workflow, running_ms, lost_ms, retry_waiting_ms, attempts_until_success }) => {
            const share = (ms: number): string => `${(100 * ms) / (running_ms + retry_waiting_ms)}%`;
            return (
              <tr key={workflow}>
                <th scope="row">
                  <a href={addressOf(["statistics"], { workflow })}>{workflow}</a>
                </th>
                <td className="track" aria-hidden="true">
                  <span className="bar">
                    <i className="k-at_once" style={{ width: share(running_ms - lost_ms) }} />
                    <i className="k-lost" style={{ width: share(lost_ms) }} />
                    <i className="k-rescued" style={{ width: share(retry_waiting_ms) }} />
                  </span>
                </td>
                <td className="small">
                  {durationText(lost_ms)} lost, {durationText(retry_waiting_ms)} waited
                  <span className="sr"> of {durationText(running_ms)}</span>
                </td>
                <td className="r small dim">
                  {attempts_until_success === null
                    ? "none succeeded"
                    : `${attempts_until_success.toFixed(1)} attempts to success`}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

/** Token counts reported by model steps, if there are any. */
export function Models({ stats }: { readonly stats: Stats }): ReactNode {
  if (stats.models.length === 0) return null;
  return (
    <section className="panel" aria-label="Models">
      <header>
        <h2>Tokens of model steps</h2>
      </header>
      <Listing
        items={stats.models}
        keyOf={({ model, workflow, step }) => `${model} ${workflow} ${step}`}
        columns={[
          { name: "Model", look: "mono-s", cell: ({ model }) => model },
          {
            name: "Step",
            look: "wide cut",
            title: ({ step, workflow }) => `${step} in ${workflow}`,
            cell: ({ step, workflow }) => (
              <span>
                <span className="mono-s">{step}</span> <span className="dim small">{workflow}</span>
              </span>
            ),
          },
          { name: "Calls", look: "r", cell: ({ calls }) => numberText(calls) },
          { name: "In", look: "r", cell: ({ input_tokens }) => numberText(input_tokens) },
          { name: "Out", look: "r", cell: ({ output_tokens }) => numberText(output_tokens) },
        ]}
      />
    </section>
  );
}
