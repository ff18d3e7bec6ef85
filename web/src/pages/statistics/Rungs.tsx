import type { ReactNode } from "react";
import { helperText } from "../../../../src/tell/words/recovery-words.js";
import { numberText, type Stats, sortHelpers } from "../../words/statistics.js";
import { RUNGS } from "../step/rungs.js";

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
