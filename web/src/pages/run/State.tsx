import type { ReactNode } from "react";
import { nameOf } from "../../../../src/report/lookup/job-name.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import type { RunMoment, RunSummary } from "./run-data.js";

/** Of more jobs the outputs are not listed. */
const MAX_JOBS = 500;

interface StateProps {
  readonly run: RunSummary;
  readonly moment: RunMoment;
  readonly jobs: number;
}

/** What steps can read: inputs, the last error, outputs. */
export function State({ run, moment, jobs }: StateProps): ReactNode {
  const { runId, at } = moment;
  const first = useLive(
    `created ${runId}`,
    () =>
      dataOf(
        api.GET("/api/v1/runs/{run_id}/events", {
          params: { path: { run_id: runId }, query: { limit: 1 } },
        }),
      ),
    () => false,
  );
  const inputs = (first.data?.items[0]?.inputs ?? {}) as { readonly [name: string]: unknown };
  return (
    <div className="pad state">
      <h3>Inputs</h3>
      <Values values={Object.entries(inputs)} none="This run has no inputs." />
      <h3>Last error</h3>
      <pre className="code">{JSON.stringify(run.state, null, 2)}</pre>
      <h3>Outputs</h3>
      {jobs > MAX_JOBS ? (
        <p className="small dim">
          {jobs} jobs are too many to list. One of them:{" "}
          <code className="mono-s">daruma job {runId} STEP --json</code>
        </p>
      ) : (
        <Outputs runId={runId} at={at} />
      )}
    </div>
  );
}

function Outputs({ runId, at }: RunMoment): ReactNode {
  const { data } = useLive(
    `outputs ${runId} ${at ?? "now"}`,
    () =>
      dataOf(
        api.GET("/api/v1/runs/{run_id}", {
          params: { path: { run_id: runId }, query: { jobs: "all", ...(at === null ? {} : { at }) } },
        }),
      ),
    (changed) => at === null && changed === runId,
  );
  if (data === null) return null;
  const given = data.jobs.filter(({ output }) => output !== null && output !== undefined);
  return (
    <Values
      values={given.map(({ step, scope, output }) => [nameOf(step, scope), output] as const)}
      none="No step has an output yet."
    />
  );
}

function Values({
  values,
  none,
}: {
  readonly values: readonly (readonly [string, unknown])[];
  readonly none: string;
}): ReactNode {
  if (values.length === 0) return <p className="small dim">{none}</p>;
  return (
    <dl className="kv">
      {values.map(([name, value]) => (
        <div key={name} className="kvrow">
          <dt className="mono-s">{name}</dt>
          <dd className="mono-s">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
