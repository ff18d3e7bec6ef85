import type { ReactNode } from "react";
import type { RunDetails } from "../../words/status.js";

/** What steps can read: outputs and the last error. */
export function State({ run }: { readonly run: RunDetails }): ReactNode {
  return (
    <div className="pad">
      <h3>State</h3>
      <pre className="code">{JSON.stringify(run.state, null, 2)}</pre>
      <h3>Outputs</h3>
      <dl className="kv">
        {run.jobs.map((job) => (
          <Output key={job.id} step={job.step} output={job.output} />
        ))}
      </dl>
    </div>
  );
}

function Output({ step, output }: { readonly step: string; readonly output: unknown }): ReactNode {
  if (output === null || output === undefined) return null;
  return (
    <>
      <dt className="mono-s">{step}</dt>
      <dd className="mono-s">{typeof output === "string" ? output : JSON.stringify(output)}</dd>
    </>
  );
}
