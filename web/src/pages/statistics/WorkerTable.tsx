import type { ReactNode } from "react";
import { addressOf } from "../../place.js";
import { numberText, percentText, type Stats } from "../../words/statistics.js";

const SHOWN = 8;

/** Which workers lose attempts. */
export function WorkerTable({ stats }: { readonly stats: Stats }): ReactNode {
  const shown = stats.by_worker.slice(0, SHOWN);
  return (
    <section className="panel" aria-label="Workers">
      <header>
        <h2>Workers</h2>
        <a className="link end small" href={addressOf(["workers"])}>
          all workers
        </a>
      </header>
      <div className="scroll">
        <table className="t">
          <thead>
            <tr>
              <th className="wide">Worker</th>
              <th className="r">Lost</th>
              <th className="r">Failed</th>
              <th className="r">Attempts</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ worker, attempts, failed, lost }) => (
              <tr key={worker}>
                <td className="wide cut mono-s" title={worker}>
                  {worker}
                </td>
                <td className={lost > 0 ? "r bad" : "r dim"}>{numberText(lost)}</td>
                <td className="r" title={`${failed} of ${attempts}`}>
                  {percentText(failed, attempts)}
                </td>
                <td className="r">{numberText(attempts)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {stats.by_worker.length > shown.length && (
        <p className="small dim pad">{stats.by_worker.length - shown.length} more workers lost less.</p>
      )}
    </section>
  );
}
