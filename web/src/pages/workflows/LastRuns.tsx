import { type ReactNode, useRef } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { addressOf } from "../../place.js";
import { count, type RunStatus } from "../../words/status.js";

const SHOWN = 20;

const LOOK: { readonly [status in RunStatus]: { readonly words: string; readonly look: string } } = {
  completed: { words: "completed", look: "o-ok" },
  failed: { words: "failed", look: "o-bad" },
  held: { words: "held", look: "o-person" },
  canceled: { words: "canceled", look: "o-idle" },
  paused: { words: "paused", look: "o-idle" },
  running: { words: "running", look: "o-run" },
  pending: { words: "pending", look: "o-run" },
};

/** How the last runs of a workflow ended, as bars of different height, oldest first. */
export function LastRuns({ workflow }: { readonly workflow: string }): ReactNode {
  const newest = useRef(0);
  const { data } = useLive(
    `last ${workflow}`,
    () => dataOf(api.GET("/api/v1/runs", { params: { query: { workflow, limit: SHOWN } } })),
    (changed) => changed >= newest.current - SHOWN,
  );
  newest.current = data?.items[0]?.run_id ?? 0;
  const runs = data?.items.toReversed() ?? [];
  if (runs.length === 0) return <span className="dim small">{data === null ? "" : "no runs yet"}</span>;
  const tally = new Map<string, number>();
  for (const { status } of runs) tally.set(LOOK[status].words, (tally.get(LOOK[status].words) ?? 0) + 1);
  const said = [...tally].map(([words, times]) => `${times} ${words}`).join(", ");
  return (
    <a
      className="lasts"
      href={addressOf(["runs"], { workflow })}
      aria-label={`${count(runs.length, "run")}: ${said}`}
    >
      {runs.map(({ run_id, status }) => (
        <i key={run_id} className={LOOK[status].look} title={`#${run_id} ${LOOK[status].words}`} />
      ))}
    </a>
  );
}
