import type { ReactNode } from "react";
import { nameOf } from "../../../src/report/lookup/job-name.js";
import { marksOf } from "../../../src/report/words/rung-marks.js";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { Glyph } from "../parts/Glyph.js";
import { LadderStrip } from "../parts/Ladder.js";
import { Refused } from "../parts/Notice.js";
import { addressOf, type Place } from "../place.js";
import { count, type JobDetails, jobStatusWord } from "../words/status.js";
import { AttemptFacts } from "./step/AttemptFacts.js";
import { Attempts } from "./step/Attempts.js";
import { Climb } from "./step/Climb.js";
import { ErrorRecord } from "./step/ErrorRecord.js";
import { Meter } from "./step/Meter.js";
import { Reading, Tabs } from "./step/Reading.js";
import { RUNGS } from "./step/rungs.js";
import { useStepKeys } from "./step/use-step-keys.js";
import { Workspace } from "./step/Workspace.js";

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
  return <Step job={job} step={step} place={place} />;
}

function Step({
  job,
  step,
  place: { query },
}: {
  readonly job: JobDetails;
  readonly step: string;
  readonly place: Place;
}): ReactNode {
  const attempts = job.attempt_history;
  const asked = Number(query.get("attempt"));
  const chosen = attempts.find(({ attempt }) => attempt === asked) ?? attempts.at(-1);
  const number = chosen?.attempt ?? null;
  const wanted = Number(query.get("with"));
  const other =
    attempts.find(({ attempt }) => attempt === wanted && attempt !== number) ??
    attempts.findLast(({ attempt }) => number !== null && attempt < number) ??
    attempts.find(({ attempt }) => attempt !== number);
  const tab = query.get("tab") ?? "log";
  const hrefWith = (changes: { readonly [name: string]: string | null }): string =>
    addressOf(["runs", job.run_id, step], {
      tab: tab === "log" ? null : tab,
      attempt: number === null ? null : String(number),
      with: query.get("with"),
      ...changes,
    });
  const hrefOf = (attempt: number): string => hrefWith({ attempt: String(attempt), with: null });
  useStepKeys({ attempts, chosen: number, hrefWith });
  const climbs = job.diagnostics.map(({ considered }) => considered ?? []);
  const hasWorkspace = attempts.some(
    ({ patch, error }) => patch !== null || (error?.diff_hash ?? null) !== null,
  );
  return (
    <div className="steppage">
      <header className="runhead">
        <Glyph status={job.handled ? "handled" : job.status} />
        <div className="grow">
          <div className="row">
            <h2 className="title mono">{nameOf(job.step, job.scope)}</h2>
            <b className={job.status === "pending_failed" ? "person" : undefined}>
              {job.dead_letter ? "held, dead letter" : jobStatusWord(job.status)}
            </b>
            {climbs.length > 0 && <LadderStrip marks={marksOf(RUNGS, climbs)} />}
          </div>
          <div className="meta small dim">
            {job.workflow} #{job.run_id}, {count(attempts.length, "attempt")}, {count(job.visits, "visit")},
            job {job.id}
          </div>
        </div>
        {job.status === "pending_failed" && (
          <a className="btn pri" href={addressOf(["inbox"])}>
            Decide in the inbox
          </a>
        )}
      </header>
      <Attempts
        job={job}
        chosen={number}
        compared={tab === "compare" ? (other?.attempt ?? null) : null}
        hrefOf={hrefOf}
      />
      <div className="stepbody">
        <section className="pane reading" aria-label="Reading">
          <Tabs job={job} tab={tab} chosen={number} other={other?.attempt ?? null} hrefWith={hrefWith} />
          <Reading
            job={job}
            tab={tab}
            chosen={chosen}
            other={other?.attempt ?? null}
            query={query}
            hrefWith={hrefWith}
          />
        </section>
        <div className="split" />
        <aside className="side">
          {climbs.length > 0 && <Climb job={job} chosen={number} hrefOf={hrefOf} />}
          <Meter attempts={attempts} />
          {chosen?.error != null && <ErrorRecord error={chosen.error} />}
          {chosen !== undefined && <AttemptFacts attempt={chosen} />}
          {hasWorkspace && <Workspace job={job} patchHref={(name) => hrefWith({ tab: "patch", name })} />}
        </aside>
      </div>
    </div>
  );
}
