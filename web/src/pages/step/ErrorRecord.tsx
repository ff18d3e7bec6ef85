import { type ReactNode, useState } from "react";
import type { JobDetails, ErrorRecord as Record } from "../../words/status.js";
import { roomIn, roundsOf } from "./rungs.js";

/** Everything known about an attempt's failure. */
export function ErrorRecord({ error }: { readonly error: Record }): ReactNode {
  const { class: failureClass, original_class: original, exit_code: exit, changed_files: files } = error;
  return (
    <section>
      <h2>Error record</h2>
      <dl className="kv panel pad">
        <dt>code</dt>
        <dd className="mono-s">
          {error.code}
          {exit !== null && `, exit code ${exit}`}
          {error.signal !== null && `, signal ${error.signal}`}
        </dd>
        <dt>class</dt>
        <dd>
          <span className="mono-s">{failureClass}</span>
          {original !== null && <span className="dim"> by itself {original}</span>}
        </dd>
        <dt>message</dt>
        <dd className="mono-s">{error.message}</dd>
        <dt>retryable</dt>
        <dd>{error.final ? "no, the step says so" : error.retryable ? "a retry may help" : "no"}</dd>
        {error.retry_after_ms !== null && (
          <>
            <dt>retry after</dt>
            <dd>{error.retry_after_ms} ms</dd>
          </>
        )}
        {files.length > 0 && (
          <>
            <dt>changed</dt>
            <dd className="mono-s">{files.join(", ")}</dd>
          </>
        )}
        <dt>signature</dt>
        <dd>
          <Signature signature={error.signature} />
        </dd>
      </dl>
    </section>
  );
}

const SHORT_CHARS = 11;

function Signature({ signature }: { readonly signature: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(signature);
    setCopied(true);
  };
  return (
    <span className="row g2">
      <span className="mono-s" title={signature}>
        {signature.slice(0, SHORT_CHARS)}
      </span>
      <button type="button" className="link" title={signature} onClick={() => void copy()}>
        {copied ? "copied" : "copy whole"}
      </button>
    </span>
  );
}

/** More would not fit into the row. */
const MOST_EMPTY = 8;

/** Shows whether the step makes progress from failure to failure, for each round of the queue. */
export function Meter({ job }: { readonly job: JobDetails }): ReactNode {
  const rounds = roundsOf(job.attempt_history);
  const limit = job.definition?.no_progress_limit ?? null;
  if (rounds.every(({ longest }) => longest < 2)) return null;
  return (
    <section>
      <h2>No progress {limit !== null && <span className="small dim plain">limit {limit}</span>}</h2>
      <div className="panel pad meter">
        {rounds.map((each) => (
          <div key={each.round} className="row small">
            <span className="dim round">Round {each.round}</span>
            <span className="dots" aria-hidden="true">
              {each.streaks.map(({ attempt, streak }) => (
                <span key={attempt} className={streak > 1 ? "d same" : "d first"} />
              ))}
              {Array.from({ length: Math.min(MOST_EMPTY, roomIn(each, limit)) }, (_none, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an empty cell is its place
                <span key={`empty ${place}`} className="d" />
              ))}
            </span>
            <span>
              <b>
                {each.oscillation
                  ? "Two failures take turns"
                  : each.longest < 2
                    ? "It got further"
                    : `${each.longest} times the same failure`}
              </b>
              {each.reached && ", the limit"}
            </span>
          </div>
        ))}
      </div>
    </section>
  );
}
