import { type ReactNode, useRef } from "react";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { useKeys } from "../keys/use-keys.js";
import { Refused, Skeleton } from "../parts/Notice.js";
import { addressOf, type Place } from "../place.js";
import type { JobDetails } from "../words/status.js";
import { type Attempt, AttemptFacts, Attempts } from "./step/Attempts.js";
import { Climb } from "./step/Climb.js";
import { ErrorRecord, Meter } from "./step/ErrorRecord.js";
import { Reading, Tabs } from "./step/Reading.js";
import { StepHead } from "./step/StepHead.js";
import { Workspace } from "./step/Workspace.js";

interface StepKeys {
  readonly attempts: readonly Attempt[];
  readonly chosen: number | null;
  readonly hrefWith: (changes: { readonly [name: string]: string | null }) => string;
}

const MOST = 9;

/** Keys that select attempts by number, or the next and previous one. */
function useStepKeys({ attempts, chosen, hrefWith }: StepKeys): void {
  const go = (changes: { readonly [name: string]: string | null }): void => {
    location.hash = hrefWith(changes);
  };
  const move = (by: 1 | -1): void => {
    const place = attempts.findIndex(({ attempt }) => attempt === chosen) + by;
    const next = attempts[place];
    if (next !== undefined) go({ attempt: String(next.attempt), with: null });
  };
  const numbered = attempts.filter(({ attempt }) => attempt <= MOST);
  useKeys("Step", [
    ...numbered.map(({ attempt }) => ({
      keys: String(attempt),
      does: `attempt ${attempt}`,
      run: () => go({ attempt: String(attempt), with: null }),
    })),
    ...numbered.map(({ attempt }) => ({
      keys: `shift+${attempt}`,
      does: `compare with attempt ${attempt}`,
      run: () => attempt !== chosen && go({ tab: "compare", with: String(attempt) }),
    })),
    { keys: "left", does: "attempt before", run: () => move(-1) },
    { keys: "right", does: "attempt after", run: () => move(1) },
    { keys: "l", does: "log", run: () => go({ tab: null }) },
  ]);
}

interface StepPageProps {
  readonly runId: number;
  readonly step: string;
  readonly place: Place;
  readonly mayAct: boolean;
}

/** One job: its attempts, what each of them printed, and how the ladder handled each failure. */
export function StepPage({ runId, step, place, mayAct }: StepPageProps): ReactNode {
  const key = `job ${runId} ${step}`;
  // The definition never changes, and in a large run it takes longer to read than everything that does.
  const known = useRef<{ readonly key: string; readonly definition: JobDetails["definition"] } | null>(null);
  const read = async (): Promise<JobDetails> => {
    const definition = known.current?.key === key ? known.current.definition : null;
    const query = { run_id: runId, definition: definition === null };
    const job = await dataOf(api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: step }, query } }));
    known.current = { key, definition: definition ?? job.definition };
    return { ...job, definition: known.current.definition };
  };
  const { data: job, problem, reload } = useLive(key, read, (changed) => changed === runId);
  if (job === null) return problem === null ? <Skeleton /> : <Refused problem={problem} />;
  return <Step job={job} step={step} place={place} mayAct={mayAct} reload={reload} />;
}

function Step({
  job,
  step,
  place: { query },
  mayAct,
  reload,
}: {
  readonly job: JobDetails;
  readonly step: string;
  readonly place: Place;
  readonly mayAct: boolean;
  readonly reload: () => void;
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
      <StepHead job={job} climbs={climbs} mayAct={mayAct} reload={reload} />
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
          <Meter job={job} />
          {chosen?.error != null && <ErrorRecord error={chosen.error} />}
          {chosen !== undefined && <AttemptFacts attempt={chosen} />}
          {hasWorkspace && <Workspace job={job} patchHref={(name) => hrefWith({ tab: "patch", name })} />}
        </aside>
      </div>
    </div>
  );
}
