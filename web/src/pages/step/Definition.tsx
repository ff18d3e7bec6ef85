import type { ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Refused } from "../../parts/Notice.js";
import type { JobDetails } from "../../words/status.js";
import { TextPane } from "./TextPane.js";

/** The step as the run uses it, whatever the file says by now. */
export function Definition({ job }: { readonly job: JobDetails }): ReactNode {
  const { data, problem } = useLive(
    `definition ${job.run_id}`,
    () => dataOf(api.GET("/api/v1/runs/{run_id}/definition", { params: { path: { run_id: job.run_id } } })),
    () => false,
  );
  if (data === null) return problem === null ? null : <Refused problem={problem} />;
  const { steps = [] } = data.definition as { steps?: readonly { id: string }[] };
  const step = steps.find(({ id }) => id === job.step);
  return (
    <TextPane
      title={job.step}
      about={`as ${data.workflow} had it when run ${job.run_id} began, definition ${data.definition_hash.slice(0, 7)}`}
      text={JSON.stringify(step ?? null, null, 2)}
    />
  );
}
