import { type ReactNode, useRef } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { addressOf } from "../../place.js";
import { Last20 } from "../runs/RunTable.js";

const TOLD = 20;

/** The outcomes of a workflow's last runs, as in the list of runs. */
export function LastRuns({ workflow }: { readonly workflow: string }): ReactNode {
  const newest = useRef(0);
  const { data } = useLive(
    `last ${workflow}`,
    () => dataOf(api.GET("/api/v1/runs", { params: { query: { workflow, limit: 1, outcomes: true } } })),
    (changed) => changed >= newest.current - TOLD,
  );
  newest.current = data?.items[0]?.run_id ?? 0;
  const outcomes = data?.outcomes?.[workflow] ?? [];
  if (outcomes.length === 0) return <span className="dim small">{data === null ? "" : "no runs yet"}</span>;
  return (
    <a className="lasts" href={addressOf(["runs"], { workflow })}>
      <Last20 outcomes={outcomes} />
    </a>
  );
}
