import { type ReactNode, useEffect, useRef } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Refused } from "../../parts/Notice.js";
import { firstErrorLine, linesOf } from "../../words/log-lines.js";
import type { JobDetails } from "../../words/status.js";

/** So much of the end of a stream is shown: 1,000 lines of it at most are in the page. */
const TAIL_BYTES = 64 * 1024;
const MAX_LINES = 1_000;

interface LogProps {
  readonly job: JobDetails;
  readonly attempt: number;
}

/** Two files, stacked: nobody knows how their lines were interleaved. */
export function Log({ job, attempt }: LogProps): ReactNode {
  return (
    <section className="log" aria-label={`Log of attempt ${attempt}`}>
      <div className="loglines">
        <Stream job={job} attempt={attempt} stream="stderr" />
        <Stream job={job} attempt={attempt} stream="stdout" />
      </div>
    </section>
  );
}

function Stream({
  job,
  attempt,
  stream,
}: {
  readonly job: JobDetails;
  readonly attempt: number;
  readonly stream: "stdout" | "stderr";
}): ReactNode {
  const { data, problem } = useLive(
    `log ${job.id} ${attempt} ${stream}`,
    () =>
      dataOf(
        api.GET("/api/v1/jobs/{job_id}/logs", {
          params: { path: { job_id: job.id }, query: { attempt, stream, tail_bytes: TAIL_BYTES } },
        }),
      ),
    (changed) => changed === job.run_id,
  );
  const first = useRef<HTMLDivElement>(null);
  const lines = data === null ? [] : linesOf(data.text).slice(-MAX_LINES);
  const errorAt = firstErrorLine(lines);
  const isThere = data !== null;
  useEffect(() => {
    if (isThere && stream === "stderr") first.current?.scrollIntoView({ block: "center" });
  }, [isThere, stream]);
  if (problem !== null) return <Refused problem={problem} />;
  if (data === null) return null;
  return (
    <>
      <div className="sh">
        <b>{stream}</b> {data.size === 0 ? "empty" : `${data.size} bytes`}
        {data.offset > 0 && <span className="end">only the last {TAIL_BYTES / 1024} KiB</span>}
      </div>
      {lines.map((line, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its place
          key={index}
          ref={index === errorAt ? first : undefined}
          className={index === errorAt ? "ln e at" : "ln"}
        >
          <i>{index + 1}</i>
          <span>{line}</span>
        </div>
      ))}
    </>
  );
}
