import type { ReactNode } from "react";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import type { RunSummary } from "./run-data.js";
import { Outcome } from "./Story.js";

/** How many waiting jobs are listed. */
const MAX_JOBS = 5;

/** What the jobs of a run wait for: a breaker, a pause before a retry, a worker, a free slot. */
export function Waits({ run }: { readonly run: RunSummary }): ReactNode {
  const runId = run.run_id;
  const mayWait = run.summary.counts.some((text) => /^\d+ (ready|waiting)/.test(text));
  const { data } = useLive(
    `waits ${runId} ${mayWait}`,
    async () => {
      if (!mayWait) return [];
      const query = { run_id: runId, status: "ready,waiting", limit: MAX_JOBS };
      return (await dataOf(api.GET("/api/v1/jobs", { params: { query } }))).items;
    },
    (changed) => changed === runId,
  );
  return (data ?? []).map(({ id, step, scope, waits_for: wait }) =>
    // Questions are already listed elsewhere.
    wait === null || wait.kind === "answer" ? null : (
      <Outcome
        key={id}
        runId={runId}
        step={nameOf(step, scope)}
        tone="dim"
        isError={false}
        words="waits"
        messages={[[1, wait.text]]}
      />
    ),
  );
}
