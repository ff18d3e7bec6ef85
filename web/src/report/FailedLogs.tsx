import { type ReactNode, useEffect, useRef, useState } from "react";
import type { FailedLog, ShownStream } from "../../../src/tell/formats/reported-run.js";
import { nameOf } from "../../../src/tell/lookup/job-name.js";
import { LogLine, sizeText } from "../log/LogLine.js";
import type { LineItem } from "../log/line-store.js";
import { Glyph } from "../parts/Glyph.js";
import { ScrollRegion } from "../parts/Listing.js";

/** How many logs are open at first. A closed log is not rendered. */
const FIRST_OPEN = 5;

/** The log of a job. For a step with many jobs, the first one. */
export function logOf(logs: readonly FailedLog[], name: string): FailedLog | undefined {
  return (
    logs.find(({ step, scope }) => nameOf(step, scope) === name) ?? logs.find(({ step }) => step === name)
  );
}

interface FailedLogsProps {
  readonly logs: readonly FailedLog[];
  /** The job that the reader selected. */
  readonly asked: string | null;
}

export function FailedLogs({ logs, asked }: FailedLogsProps): ReactNode {
  const wanted = asked === null ? undefined : logOf(logs, asked);
  if (logs.length === 0) return <p className="pad small dim">No attempt failed.</p>;
  return (
    <div className="faillogs">
      {logs.map((log, place) => (
        <Entry key={log.job_id} log={log} opens={place < FIRST_OPEN} isAsked={log === wanted} />
      ))}
    </div>
  );
}

interface EntryProps {
  readonly log: FailedLog;
  readonly opens: boolean;
  readonly isAsked: boolean;
}

function Entry({ log, opens, isAsked }: EntryProps): ReactNode {
  const box = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(opens);
  useEffect(() => {
    if (!isAsked) return;
    setOpen(true);
    box.current?.scrollIntoView({ block: "start" });
  }, [isAsked]);
  const { step, scope, attempt, attempts, standing, error, streams } = log;
  const printed = streams.filter(({ total }) => total > 0);
  return (
    <details
      ref={box}
      open={isOpen}
      className={isAsked ? "at" : undefined}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <Glyph status={GLYPHS[standing]} />
        <b className="mono">{nameOf(step, scope)}</b>
        <span className="dim">
          {attempts > 1 ? `attempt ${attempt} of ${attempts}` : "one attempt"}, {WORDS[standing]}
        </span>
        {error !== null && <span className="chip mono line">{error.code}</span>}
      </summary>
      {isOpen && (
        <div className="reading">
          {error !== null && <p className="er">{error.message}</p>}
          {printed.length === 0 && <p className="pad small dim">It printed nothing, or its log is gone.</p>}
          {printed.map((stream) => (
            <Stream key={stream.stream} of={nameOf(step, scope)} stream={stream} />
          ))}
        </div>
      )}
    </details>
  );
}

const GLYPHS = {
  failed: "failed",
  held: "held",
  handled: "handled",
  rescued: "completed",
  open: "running",
} as const;

const WORDS: { readonly [standing in FailedLog["standing"]]: string } = {
  failed: "failed",
  held: "held for a decision",
  handled: "failed, handled",
  rescued: "a later attempt completed",
  open: "not over",
};

function Stream({ of, stream }: { readonly of: string; readonly stream: ShownStream }): ReactNode {
  const { stream: name, total, size, truncated, items } = stream;
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const region = box.current;
    if (region === null) return;
    const error = region.querySelector<HTMLElement>(".ln.e");
    // The reason for a failure is at the first error, or else at the end.
    region.scrollTop =
      error === null ? region.scrollHeight : error.offsetTop - region.offsetTop - region.clientHeight / 3;
  }, []);
  return (
    <section className="logpane" aria-label={`${name} of ${of}`}>
      <div className="sh">
        <b>{name}</b>
        <span>
          {items.length === total ? "" : `${items.length} of `}
          {total.toLocaleString("en")} {total === 1 ? "line" : "lines"}, {sizeText(size)}
        </span>
        {truncated && <span>more was printed than max_log allows</span>}
      </div>
      <ScrollRegion ref={box} className="loglines wrap" label={`Lines of ${name} of ${of}`}>
        {withGaps(items).map(({ before, item }) => (
          <div key={item.line}>
            {before !== null && <p className="gap dim">{before}</p>}
            <LogLine number={item.line} item={item} isAt={false} isHit={false} />
          </div>
        ))}
      </ScrollRegion>
    </section>
  );
}

/** Adds to each line a text about the lines missing before it. */
function withGaps(items: readonly LineItem[]): { before: string | null; item: LineItem }[] {
  return items.map((item, place) => {
    const missing = item.line - (items[place - 1]?.line ?? 0) - 1;
    const words = missing === 1 ? "1 line" : `${missing.toLocaleString("en")} lines`;
    return { before: missing === 0 ? null : `${words} left out`, item };
  });
}
