import type { ReactNode } from "react";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Glyph } from "../../parts/Glyph.js";
import type { JobDetails } from "../../words/status.js";

const HASH_CHARS = 7;

/** The checkpoints of the run's workspace, and what attempts of this step left in it. */
export function Workspace({
  job,
  patchHref,
}: {
  readonly job: JobDetails;
  readonly patchHref: (patch: string) => string;
}): ReactNode {
  const { data } = useLive(
    `workspace ${job.run_id}`,
    () => dataOf(api.GET("/api/v1/runs/{run_id}/workspace", { params: { path: { run_id: job.run_id } } })),
    (changed) => changed === job.run_id,
  );
  if (data === null) return null;
  const resets =
    data.resets === 0 ? "" : `, ${data.resets === 1 ? "1 hard reset" : `${data.resets} hard resets`}`;
  const left = job.attempt_history.filter(
    ({ status, error }) => status !== "succeeded" && (error?.diff_hash ?? null) !== null,
  );
  return (
    <section>
      <h2>
        Workspace
        {data.commit !== null && (
          <span className="small dim plain">
            pinned at {data.commit.slice(0, HASH_CHARS)}
            {resets}
          </span>
        )}
      </h2>
      <div className="panel">
        <table className="t checkpoints">
          <tbody>
            {data.checkpoints.map((checkpoint) => (
              <tr key={checkpoint.ordinal} className={checkpoint.superseded ? "dim" : undefined}>
                <td>
                  <Glyph status={checkpoint.superseded ? "canceled" : "completed"} />
                </td>
                <td className="mono-s">
                  {checkpoint.ordinal} {nameOf(checkpoint.step, checkpoint.scope)}
                </td>
                <td
                  className="dim small"
                  title={`commit ${checkpoint.commit}, diff ${checkpoint.diff_hash ?? "none"}`}
                >
                  {checkpoint.superseded ? "taken back" : "checkpoint"}{" "}
                  {checkpoint.commit.slice(0, HASH_CHARS)}
                </td>
                <td className="small">{filesText(checkpoint.changed_files)}</td>
                <td className="r small">
                  <a className="link" href={patchHref(checkpoint.patch)}>
                    patch
                  </a>
                </td>
              </tr>
            ))}
            {left.map(({ attempt, error, patch }) => (
              <tr key={`left ${attempt}`}>
                <td>
                  <Glyph status="failed" />
                </td>
                <td className="mono-s">attempt {attempt}</td>
                <td className="dim small" title={error?.diff_hash ?? undefined}>
                  changed files, saved as {error?.diff_hash?.slice(0, HASH_CHARS)}
                </td>
                <td className="small">{filesText(error?.changed_files ?? [])}</td>
                <td className="r small">
                  {patch !== null && (
                    <a className="link" href={patchHref(patch)}>
                      patch
                    </a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function filesText(files: readonly string[]): string {
  const [first = ""] = files;
  return files.length > 1 ? `${first} and ${files.length - 1} more` : first;
}
