import type { ReactNode } from "react";
import { api, dataOf } from "../api/client.js";
import { useAct } from "../api/use-act.js";
import { useEvery } from "../api/use-every.js";
import { useLive } from "../api/use-live.js";
import { Refused, Skeleton } from "../parts/Notice.js";
import { PageTabs } from "../parts/PageHead.js";
import { count } from "../words/status.js";
import { AllocationTable } from "./workers/AllocationTable.js";
import { BreakerTable, CampaignTable } from "./workers/Shared.js";
import { Waiting, WorkersTable } from "./workers/WorkersTable.js";
import "../styles/clocks.css";
import "../styles/stats.css";

/** A worker's sign of life is no event of a run, so this page reloads at an interval. */
const READ_EVERY_MS = 5_000;

async function readAll() {
  const [workers, waiting, allocations, breakers, campaigns] = await Promise.all([
    dataOf(api.GET("/api/v1/workers")),
    dataOf(api.GET("/api/v1/waiting")),
    dataOf(api.GET("/api/v1/allocations", { params: { query: { limit: 50 } } })),
    dataOf(api.GET("/api/v1/breakers")),
    dataOf(api.GET("/api/v1/campaigns", { params: { query: { limit: 10 } } })),
  ]);
  return {
    workers: workers.items,
    waiting: waiting.items,
    allocations,
    breakers: breakers.items,
    campaigns: campaigns.items,
    at: Date.now(),
  };
}

/** First shows waiting jobs and what is done about them, then the workers, then what all runs share. */
export function Workers({ mayAct }: { readonly mayAct: boolean }): ReactNode {
  const { data, problem, reload } = useLive("workers", readAll, () => false);
  const { act, refused } = useAct(reload);
  useEvery(READ_EVERY_MS, reload);
  if (data === null) return problem === null ? <Skeleton /> : <Refused problem={problem} />;
  const { workers, waiting, allocations, breakers, campaigns, at } = data;
  const connected = workers.filter((worker) => worker.connected);
  const sum = (of: "slots" | "used"): number => connected.reduce((total, worker) => total + worker[of], 0);
  return (
    <div className="page workers">
      <div className="row wrap">
        <h2 className="sr">Workers</h2>
        <PageTabs of="workers" current="workers" />
        <span className="dim">
          {count(connected.length, "worker")}, {count(sum("slots"), "slot")}, {sum("used")} in use
        </span>
        <span className="end small dim">
          Add one: <code className="mono-s">daruma worker --server {location.origin} --name NAME</code>
        </span>
      </div>
      {problem !== null && <Refused problem={problem} />}
      {refused !== null && <Refused problem={refused} />}
      <Waiting waiting={waiting} allocations={allocations} mayAct={mayAct} act={act} />
      <WorkersTable workers={workers} now={at} mayAct={mayAct} act={act} />
      <p className="small dim">
        A worker is quarantined when three jobs in a row failed on it that others completed. It gets nothing
        new, and is tried with one attempt after ten minutes.
      </p>
      {allocations.items.length > 0 && (
        <AllocationTable items={allocations.items} mayAct={mayAct} act={act} />
      )}
      {breakers.length > 0 && <BreakerTable breakers={breakers} mayAct={mayAct} act={act} />}
      {campaigns.length > 0 && <CampaignTable campaigns={campaigns} mayAct={mayAct} act={act} />}
    </div>
  );
}
