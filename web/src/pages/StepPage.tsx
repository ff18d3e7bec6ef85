import type { ReactNode } from "react";
import { nameOf } from "../../../src/report/lookup/job-name.js";
import { durationText } from "../../../src/report/words/duration-text.js";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { Glyph } from "../parts/Glyph.js";
import { LadderStrip } from "../parts/Ladder.js";
import { marksOf } from "../parts/marks.js";
import { Refused } from "../parts/Notice.js";
import { addressOf, type Place } from "../place.js";
import { type ErrorRecord, type JobDetails, jobStatusWord } from "../words/status.js";
import { clockTime, exactTime } from "../words/times.js";
import { Climb } from "./step/Climb.js";
import { Log } from "./step/Log.js";
import { RUNGS } from "./step/rungs.js";

interface StepPageProps {
  readonly runId: number;
  readonly step: string;
  readonly place: Place;
}

/** One job: its attempts, what each of them printed, and what the ladder made of each failure. */
export function StepPage({ runId, step, place }: StepPageProps): ReactNode {
  const { data: job, problem } = useLive(
    `job ${runId} ${step}`,
    () =>
      dataOf(
        api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: step }, query: { run_id: runId } } }),
      ),
    (changed) => changed === runId,
  );
  if (job === null) return problem === null ? null : <Refused problem={problem} />;
  const asked = Number(place.query.get("attempt"));
  const chosen = job.attempt_history.find(({ attempt }) => attempt === asked) ?? job.attempt_history.at(-1);
  const climbs = job.diagnostics.map(({ considered }) => considered ?? []);
  return (
    <div className="steppage">
      <header className="runhead">
        <Glyph status={job.handled ? "handled" : job.status} />
        <div className="grow">
          <div className="row">
            <h2 className="title mono">{nameOf(job.step, job.scope)}</h2>
            <b>{job.dead_letter ? "held, dead letter" : jobStatusWord(job.status)}</b>
            {climbs.length > 0 && <LadderStrip marks={marksOf(RUNGS, climbs)} />}
          </div>
          <div className="meta small dim">
            {job.workflow} #{job.run_id}, job {job.id}
          </div>
        </div>
      </header>
      <Attempts job={job} step={step} chosen={chosen?.attempt ?? null} />
      <div className="stepbody">
        {chosen === undefined ? (
          <p className="pad dim">It has not begun.</p>
        ) : (
          <Log job={job} attempt={chosen.attempt} />
        )}
        <div className="split" />
        <aside className="side">
          {climbs.length > 0 && <Climb job={job} chosen={chosen?.attempt ?? null} />}
          {chosen?.error != null && <ErrorPanel error={chosen.error} />}
          {chosen !== undefined && <AttemptPanel attempt={chosen} />}
        </aside>
      </div>
    </div>
  );
}

function Attempts({
  job,
  step,
  chosen,
}: {
  readonly job: JobDetails;
  readonly step: string;
  readonly chosen: number | null;
}): ReactNode {
  const rungAfter = new Map(job.diagnostics.map(({ attempt, rung }) => [attempt, rung]));
  return (
    <ol className="strip" aria-label="Attempts">
      {job.attempt_history.map(({ attempt, status, error, started_at, finished_at }) => {
        const rung = rungAfter.get(attempt);
        return (
          <li key={attempt} className="row g2">
            <a
              className={`att ${status} ${attempt === chosen ? "sel" : ""}`}
              href={addressOf(["runs", job.run_id, step], { attempt: String(attempt) })}
              aria-current={attempt === chosen ? "true" : undefined}
            >
              <span className="hd">
                {attempt}
                <span className="end mono-s">{error?.code ?? status}</span>
              </span>
              <span className="small dim">
                {finished_at === null
                  ? "running"
                  : durationText(Date.parse(finished_at) - Date.parse(started_at))}
                {error !== null && `, ${error.class}`}
              </span>
            </a>
            {rung !== undefined && <span className={rung === "hold" ? "via person" : "via"}>{rung}</span>}
          </li>
        );
      })}
    </ol>
  );
}

function ErrorPanel({ error }: { readonly error: ErrorRecord }): ReactNode {
  const rows: readonly (readonly [string, string | null])[] = [
    ["code", error.code],
    [
      "class",
      error.original_class === null ? error.class : `${error.class}, by itself ${error.original_class}`,
    ],
    ["message", error.message],
    ["exit code", error.exit_code === null ? null : String(error.exit_code)],
    ["signal", error.signal],
    ["retryable", error.retryable ? "yes" : "no"],
    ["signature", error.signature],
  ];
  return (
    <section>
      <h2>Error record</h2>
      <dl className="kv panel pad">
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd className="mono-s">{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}

function AttemptPanel({ attempt }: { readonly attempt: JobDetails["attempt_history"][number] }): ReactNode {
  const { worker, node, allocation, started_at, finished_at, peak_memory_bytes, cpu_ms } = attempt;
  return (
    <section>
      <h2>Attempt {attempt.attempt}</h2>
      <dl className="kv panel pad">
        <dt>started</dt>
        <dd title={exactTime(started_at)}>{clockTime(started_at)} UTC</dd>
        {finished_at !== null && (
          <>
            <dt>ended</dt>
            <dd title={exactTime(finished_at)}>{clockTime(finished_at)} UTC</dd>
          </>
        )}
        <dt>worker</dt>
        <dd className="mono-s">{[worker, node, allocation].filter(Boolean).join(", ")}</dd>
        {peak_memory_bytes !== null && (
          <>
            <dt>peak memory</dt>
            <dd>{(peak_memory_bytes / 2 ** 20).toFixed(1)} MiB</dd>
          </>
        )}
        {cpu_ms !== null && (
          <>
            <dt>CPU</dt>
            <dd>{durationText(cpu_ms)}</dd>
          </>
        )}
      </dl>
    </section>
  );
}
