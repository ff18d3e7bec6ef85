import type { ReactNode } from "react";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { withMarks } from "../../words/unseen.js";
import type { RunMoment, RunSummary } from "./run-data.js";

/** With more jobs, the outputs are not listed. */
const MAX_JOBS = 500;

interface StateProps {
  readonly run: RunSummary;
  readonly moment: RunMoment;
  readonly jobs: number;
}

/** Shows what steps can read: inputs, the last error, outputs. */
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
      <LastErrors state={run.state} />
      <h3>Outputs</h3>
      {jobs > MAX_JOBS ? (
        <p className="small dim">
          {jobs} jobs are too many to list. One of them:{" "}
          <code className="mono-s">daruma job show {runId} STEP --json</code>
        </p>
      ) : (
        <Outputs runId={runId} at={at} />
      )}
    </div>
  );
}

/** The last errors by scope. A run without a fan-out has one scope. */
function LastErrors({ state }: { readonly state: RunSummary["state"] }): ReactNode {
  const errors = Object.entries(state ?? {}).flatMap(([scope, kept]) => {
    const error = (kept as { readonly _last_error?: unknown } | null)?._last_error ?? null;
    return error === null ? [] : [[scope.replace(/^root\/?/, "") || "this run", error] as const];
  });
  if (errors.length === 0)
    return <p className="small dim">No error is kept: what failed was handled, or came back.</p>;
  return errors.map(([scope, error]) => (
    <div key={scope}>
      {errors.length > 1 && <div className="mono-s dim">{scope}</div>}
      <pre className="code">{withMarks(JSON.stringify(error, null, 2))}</pre>
    </div>
  ));
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
          {value === "" ? (
            <dd className="small dim">nothing</dd>
          ) : (
            <dd className="mono-s">{withMarks(typeof value === "string" ? value : JSON.stringify(value))}</dd>
          )}
        </div>
      ))}
    </dl>
  );
}
