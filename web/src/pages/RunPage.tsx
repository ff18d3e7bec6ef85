import { type ReactNode, useState } from "react";
import { nameOf } from "../../../src/report/lookup/job-name.js";
import { durationText } from "../../../src/report/words/duration-text.js";
import { api, dataOf, type Problem } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { RunGraph } from "../graph/RunGraph.js";
import { Doll } from "../parts/Doll.js";
import { Glyph } from "../parts/Glyph.js";
import { Icon, type IconName } from "../parts/Icon.js";
import { Refused } from "../parts/Notice.js";
import { addressOf, type Place } from "../place.js";
import { count, jobStatusWord, type RunDetails, standingOf } from "../words/status.js";
import { exactTime } from "../words/times.js";
import { Events } from "./run/Events.js";
import { State } from "./run/State.js";
import { Story } from "./run/Story.js";

const TABS = ["story", "steps", "events", "state"] as const;

interface RunPageProps {
  readonly runId: number;
  readonly place: Place;
  readonly mayAct: boolean;
}

/** One run: how it stands, its steps, and how it came to that. */
export function RunPage({ runId, place, mayAct }: RunPageProps): ReactNode {
  const {
    data: run,
    problem,
    reload,
  } = useLive(
    `run ${runId}`,
    () => dataOf(api.GET("/api/v1/runs/{run_id}", { params: { path: { run_id: runId } } })),
    (changed) => changed === runId,
  );
  const tab = TABS.find((name) => name === place.query.get("tab")) ?? "story";
  if (run === null) return problem === null ? null : <Refused problem={problem} />;
  const { recoveries } = run;
  return (
    <div className="runpage">
      <RunHead run={run} recoveries={recoveries.length} mayAct={mayAct} reload={reload} />
      {problem !== null && <Refused problem={problem} />}
      <div className="runbody">
        <section className="gpane" aria-label="Graph">
          <RunGraph run={run} recoveries={recoveries} />
        </section>
        <div className="split" />
        <section className="pane" aria-label="How it went">
          <nav className="tabs">
            {TABS.map((name) => (
              <a
                key={name}
                href={addressOf(["runs", runId], { tab: name })}
                aria-current={name === tab ? "true" : undefined}
              >
                {name[0]!.toUpperCase() + name.slice(1)}
                {name === "story" && recoveries.length > 0 && <span className="c">{recoveries.length}</span>}
              </a>
            ))}
          </nav>
          <div className="body">
            {tab === "story" && <Story run={run} recoveries={recoveries} />}
            {tab === "steps" && <Steps run={run} />}
            {tab === "events" && <Events runId={runId} />}
            {tab === "state" && <State run={run} />}
          </div>
        </section>
      </div>
    </div>
  );
}

interface HeadProps {
  readonly run: RunDetails;
  readonly recoveries: number;
  readonly mayAct: boolean;
  readonly reload: () => void;
}

function RunHead({ run, recoveries, mayAct, reload }: HeadProps): ReactNode {
  const standing = standingOf(run, { recoveries, handled: run.handled_failures.length });
  return (
    <header className="runhead">
      <Doll face={standing.face} size="l" />
      <div className="grow">
        <div className="row">
          <h2 className="title">
            {run.workflow} <span className="num dim">#{run.run_id}</span>
          </h2>
          <b className={standing.tone}>{standing.words}</b>
          {recoveries > 0 && standing.face !== "recovered" && (
            <span className="chip gold">{count(recoveries, "recovery", "recoveries")}</span>
          )}
        </div>
        <div className="meta row small dim">
          <span>{run.summary.counts.join(", ")}</span>
          <span>started {exactTime(run.created_at)}</span>
          {run.duration_ms !== null && <span>took {durationText(run.duration_ms)}</span>}
        </div>
      </div>
      {mayAct && <Controls run={run} reload={reload} />}
    </header>
  );
}

type ControlAction = "pause" | "resume" | "cancel";

/** Why a control does nothing now; null: it can be used. */
function refusalOf(action: ControlAction, { status, imported }: RunDetails): string | null {
  if (imported) return "An imported run can only be read";
  const isOver = status === "completed" || status === "failed" || status === "canceled";
  if (isOver) return `The run is ${status}`;
  if (action === "pause" && status === "paused") return "It is paused already";
  if (action === "resume" && status !== "paused") return "It is not paused";
  return null;
}

const CONTROLS: readonly {
  readonly action: ControlAction;
  readonly words: string;
  readonly icon: IconName;
}[] = [
  { action: "pause", words: "Pause", icon: "pause" },
  { action: "resume", words: "Resume", icon: "resume" },
  { action: "cancel", words: "Cancel", icon: "cancel" },
];

function Controls({ run, reload }: { readonly run: RunDetails; readonly reload: () => void }): ReactNode {
  const [asked, setAsked] = useState<{ readonly key: string } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const send = async (action: ControlAction, key: string): Promise<void> => {
    setAsked(null);
    const path = { run_id: run.run_id };
    const body = { action, key, reason: "from the page" };
    try {
      await dataOf(api.POST("/api/v1/runs/{run_id}/control", { params: { path }, body }));
      setProblem(null);
    } catch (error) {
      setProblem(error as Problem);
    }
    reload();
  };
  return (
    <div className="ctl row">
      {CONTROLS.map(({ action, words, icon }) => {
        const why = refusalOf(action, run);
        const press = (): void => {
          if (why !== null) return;
          const key = crypto.randomUUID();
          if (action === "cancel") setAsked({ key });
          else void send(action, key);
        };
        return (
          <span key={action} className="tip">
            <button
              type="button"
              className={action === "cancel" ? "btn danger" : "btn"}
              aria-disabled={why !== null}
              aria-description={why ?? undefined}
              onClick={press}
            >
              <Icon name={icon} small />
              {words}
            </button>
            {why !== null && <span className="why">{why}</span>}
          </span>
        );
      })}
      {problem !== null && <Refused problem={problem} />}
      {asked !== null && (
        <div className="veil">
          <div className="dialog" role="alertdialog" aria-label={`Cancel run ${run.run_id}`}>
            <div>
              <h2>
                Cancel run {run.run_id} of {run.workflow}?
              </h2>
              <p>Steps that are running are stopped, and nothing new starts. What was done stays done.</p>
            </div>
            <footer>
              {/* biome-ignore lint/a11y/noAutofocus: the harmless button has the focus */}
              <button type="button" className="btn" autoFocus onClick={() => setAsked(null)}>
                Let it go on
              </button>
              <button type="button" className="btn danger" onClick={() => void send("cancel", asked.key)}>
                Cancel run {run.run_id}
              </button>
            </footer>
          </div>
        </div>
      )}
    </div>
  );
}

/** More of them than this are shown by their status only. */
const MAX_ROWS = 400;

function Steps({ run }: { readonly run: RunDetails }): ReactNode {
  const jobs = run.jobs.slice(0, MAX_ROWS);
  return (
    <section className="steps scroll" aria-label="Steps">
      <table className="t">
        <thead>
          <tr>
            <th>Step</th>
            <th>Status</th>
            <th className="r">Attempts</th>
            <th className="wide">Error</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => {
            const name = nameOf(job.step, job.scope);
            const status = job.handled ? "handled" : jobStatusWord(job.status);
            return (
              <tr key={job.id}>
                <td>
                  <a className="row mono" href={addressOf(["runs", run.run_id, name])}>
                    <Glyph status={job.handled ? "handled" : job.status} />
                    {name}
                  </a>
                </td>
                <td>{job.dead_letter ? `${status}, dead letter` : status}</td>
                <td className="r">{job.attempts === 0 ? "" : job.attempts}</td>
                <td className="wide cut mono-s bad" title={job.error?.message}>
                  {job.error?.message ?? ""}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {run.jobs.length > jobs.length && (
        <p className="small dim pad">
          {run.jobs.length - jobs.length} more jobs are not listed here:{" "}
          <code className="mono-s">daruma jobs {run.run_id}</code>
        </p>
      )}
    </section>
  );
}
