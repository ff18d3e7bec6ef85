import { Fragment, type ReactNode, useEffect, useRef } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { sizeText } from "../../log/LogLine.js";
import { Cut } from "../../parts/Cut.js";
import { Glyph } from "../../parts/Glyph.js";
import { reasonBeside } from "../../words/moment.js";
import type { JobDetails } from "../../words/status.js";
import { exactTime, namedTime } from "../../words/times.js";

export type Attempt = JobDetails["attempt_history"][number];

interface AttemptsProps {
  readonly job: JobDetails;
  readonly chosen: number | null;
  /** The attempt that the chosen one is compared with. */
  readonly compared: number | null;
  readonly hrefOf: (attempt: number) => string;
}

const SCROLL_ROOM_PX = 16;
const GLYPHS = {
  running: "running",
  succeeded: "completed",
  failed: "failed",
  stopped: "canceled",
  suspended: "waiting",
} as const;

/** Lists attempts, and between two of them the rung that caused the second. */
export function Attempts({ job, chosen, compared, hrefOf }: AttemptsProps): ReactNode {
  const climbs = new Map(job.diagnostics.map((climb) => [climb.attempt, climb]));
  const strip = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: where another attempt is chosen, it is to be seen
  useEffect(() => {
    const [list, link] = [strip.current, strip.current?.querySelector<HTMLElement>(".att.sel")];
    if (list == null || link == null) return;
    const [around, at] = [list.getBoundingClientRect(), link.getBoundingClientRect()];
    if (at.left < around.left) list.scrollLeft -= around.left - at.left + SCROLL_ROOM_PX;
    if (at.right > around.right) list.scrollLeft += at.right - around.right + SCROLL_ROOM_PX;
  }, [chosen]);
  return (
    <ol className="strip" aria-label="Attempts" ref={strip}>
      {job.attempt_history.map((attempt) => {
        const climb = climbs.get(attempt.attempt);
        const look = attempt.attempt === chosen ? "sel" : attempt.attempt === compared ? "cmp" : "";
        return (
          <Fragment key={attempt.attempt}>
            <li className="row">
              <a
                className={`att ${attempt.status} ${look}`}
                href={hrefOf(attempt.attempt)}
                aria-current={attempt.attempt === chosen ? "true" : undefined}
              >
                <span className="hd">
                  <Glyph status={GLYPHS[attempt.status]} />
                  <span className="sr">Attempt </span>
                  {attempt.attempt}
                  <span className="end mono-s">{attempt.error?.code ?? attempt.status}</span>
                </span>
                <span className="small dim num">{aboutAttempt(attempt)}</span>
              </a>
            </li>
            {climb !== undefined && <Via climb={climb} code={attempt.error?.code} isDead={job.dead_letter} />}
          </Fragment>
        );
      })}
      {job.status === "held" && <Waits job={job} />}
    </ol>
  );
}

function aboutAttempt({ started_at, finished_at, error }: Attempt): string {
  if (finished_at === null) return `since ${namedTime(started_at)}`;
  const took = durationText(Date.parse(finished_at) - Date.parse(started_at));
  if (error === null) return took;
  return `${took}, ${error.class === "stuck_no_progress" ? "no progress" : error.class}`;
}

function Via({
  climb,
  code,
  isDead,
}: {
  readonly climb: JobDetails["diagnostics"][number];
  /** The failure's code, which the attempt already shows. */
  readonly code: string | undefined;
  readonly isDead: boolean;
}): ReactNode {
  const { rung, considered } = climb;
  const reason = considered.find(({ applied }) => applied)?.reason ?? "";
  const look = rung === "hold" ? "via person" : rung === "fail" ? "via bad" : "via";
  return (
    <li className={look} title={`${rung}: ${reason}`}>
      <span>
        {rung === "hold" ? "held" : rung}
        <small>
          <Cut lines={2}>{rung === "hold" && isDead ? "dead letter" : reasonBeside(rung, reason, code)}</Cut>
        </small>
      </span>
    </li>
  );
}

function Waits({ job }: { readonly job: JobDetails }): ReactNode {
  const since = job.attempt_history.at(-1)?.finished_at ?? null;
  return (
    <li className="att waits">
      <span className="hd person">
        <Glyph status="held" /> Waits
      </span>
      <span className="small dim">{since === null ? "for a decision" : `since ${namedTime(since)}`}</span>
    </li>
  );
}

/** When and where an attempt ran, and what it used. */
export function AttemptFacts({ attempt }: { readonly attempt: Attempt }): ReactNode {
  const { ready_at, started_at, finished_at, worker, node, allocation, restart } = attempt;
  const { peak_memory_bytes: memory, cpu_ms: cpu } = attempt;
  const waited = ready_at === null ? null : Date.parse(started_at) - Date.parse(ready_at);
  const rows: readonly (readonly [string, ReactNode])[] = [
    [
      "ready",
      ready_at === null ? null : (
        <Time key="ready" at={ready_at} more={`waited ${durationText(waited ?? 0)}`} />
      ),
    ],
    ["started", <Time key="started" at={started_at} />],
    ["ended", finished_at === null ? "it is running" : <Time key="ended" at={finished_at} />],
    ["visit", attempt.visit],
    [
      "worker",
      [worker, node, allocation, restart === null ? null : `restart ${restart}`].filter(Boolean).join(", "),
    ],
    ["peak memory", memory === null ? null : sizeText(memory)],
    ["CPU", cpu === null ? null : durationText(cpu)],
    ["exit", attempt.error?.exit_code ?? attempt.error?.signal ?? null],
  ];
  return (
    <section>
      <h2>Attempt {attempt.attempt}</h2>
      <dl className="kv panel pad">
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}

function Time({ at, more }: { readonly at: string; readonly more?: string }): ReactNode {
  return (
    <span title={exactTime(at)}>
      {namedTime(at)}
      {more !== undefined && <span className="dim">, {more}</span>}
    </span>
  );
}
