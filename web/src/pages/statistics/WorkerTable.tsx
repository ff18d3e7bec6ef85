import type { ReactNode } from "react";
import { Listing } from "../../parts/Listing.js";
import { addressOf } from "../../place.js";
import { numberText, percentText, type Stats } from "../../words/statistics.js";

const SHOWN = 8;

/** Shows which workers lose attempts. */
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
      <Listing
        items={shown}
        keyOf={({ worker }) => worker}
        columns={[
          {
            name: "Worker",
            look: "wide cut mono-s",
            title: ({ worker }) => worker,
            cell: ({ worker }) => worker,
          },
          {
            name: "Lost",
            look: "r",
            cell: ({ lost }) => <span className={lost > 0 ? "bad" : "dim"}>{numberText(lost)}</span>,
          },
          {
            name: "Failed",
            look: "r",
            title: ({ failed, attempts }) => `${failed} of ${attempts}`,
            cell: ({ failed, attempts }) => percentText(failed, attempts),
          },
          { name: "Attempts", look: "r", cell: ({ attempts }) => numberText(attempts) },
        ]}
      />
      {stats.by_worker.length > shown.length && (
        <p className="small dim pad">{stats.by_worker.length - shown.length} more workers lost less.</p>
      )}
    </section>
  );
}
