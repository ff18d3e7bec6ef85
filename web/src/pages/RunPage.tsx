import { type ReactNode, useRef, useState } from "react";
import { nameOf } from "../../../src/tell/lookup/job-name.js";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { RunGraph } from "../graph/RunGraph.js";
import { Keys } from "../keys/KeysOverlay.js";
import { useKeys } from "../keys/use-keys.js";
import { Icon } from "../parts/Icon.js";
import { Refused, Skeleton } from "../parts/Notice.js";
import { useWorkflowOf } from "../parts/trail.js";
import { addressOf, type Place } from "../place.js";
import { Controls } from "./run/Controls.js";
import { runControlsOf } from "./run/control-words.js";
import { Events } from "./run/Events.js";
import { addressWith, goTo, momentOf } from "./run/go.js";
import { RunHead } from "./run/RunHead.js";
import {
  type Drawing,
  type RunMoment,
  type RunSummary,
  type TimelineData,
  useDrawing,
  usePastDrawing,
  usePastRun,
  useRun,
  useStory,
  useTimeline,
} from "./run/run-data.js";
import { defaultStep } from "./run/run-standing.js";
import { Scrub } from "./run/Scrub.js";
import { SelectedBar } from "./run/SelectedBar.js";
import { State } from "./run/State.js";
import { Outcome, Story } from "./run/Story.js";
import { Timeline } from "./run/Timeline.js";

/** How many waiting jobs are listed. */
const MAX_JOBS = 5;

/** What the jobs of a run wait for: a breaker, a pause before a retry, a worker, a free slot. */
function Waits({ run }: { readonly run: RunSummary }): ReactNode {
  const runId = run.run_id;
  const mayWait = run.summary.counts.some((text) => /^\d+ (ready|waiting)/.test(text));
  const { data } = useLive(
    `waits ${runId} ${mayWait}`,
    async () => {
      if (!mayWait) return [];
      const query = { run_id: runId, status: "ready,waiting", limit: MAX_JOBS };
      return (await dataOf(api.GET("/api/v1/jobs", { params: { query } }))).items;
    },
    (changed) => changed === runId,
  );
  return (data ?? []).map(({ id, step, scope, waits_for: wait }) =>
    // Questions are already listed elsewhere.
    wait === null || wait.kind === "answer" ? null : (
      <Outcome
        key={id}
        runId={runId}
        step={nameOf(step, scope)}
        tone="dim"
        isError={false}
        words="waits"
        messages={[[1, wait.text]]}
      />
    ),
  );
}

const TABS = ["graph", "story", "timeline", "events", "state"] as const;
type Tab = (typeof TABS)[number];

interface RunPageProps {
  readonly runId: number;
  readonly place: Place;
  readonly mayAct: boolean;
}

/** One run: its status now or at a past moment, its steps, and how it came to that. */
export function RunPage({ runId, place, mayAct }: RunPageProps): ReactNode {
  const at = momentOf(place);
  const moment = { runId, at };
  const live = useRun(runId);
  const past = usePastRun(moment);
  const now = useLast(live.data);
  const run = at === null ? now : (past.data ?? now);
  const problem = live.problem ?? past.problem;
  const log = useTimeline(runId);
  const drawn = useLast(useDrawing(runId).data);
  const drawnThen = useLast(usePastDrawing(moment).data);
  const drawing = at === null ? drawn : (drawnThen ?? drawn);
  const [chosen, setChosen] = useState<number | null>(null);
  const [isShut, setShut] = useState(false);
  const { data: timeline } = log;
  const step = place.query.get("step") ?? (now === null ? null : defaultStep(now));
  useKeys("Run", [
    ...(step === null
      ? []
      : [{ keys: "enter", does: "open the step", run: () => goHash(addressOf(["runs", runId, step])) }]),
    { keys: "esc", does: "back to all runs", run: () => goHash(addressOf(["runs"])) },
  ]);
  useWorkflowOf(runId, now?.workflow ?? null);
  if (run === null || now === null) return problem === null ? <Skeleton /> : <Refused problem={problem} />;
  const tab = TABS.find((name) => name === place.query.get("tab")) ?? "story";
  const go = (next: number | null): void =>
    goTo(place, { at: next === null ? null : String(next), step: place.query.get("step") });
  const isPast = at !== null;
  const questions = run.summary.holds.filter(({ kind }) => kind === "question");
  const asking = new Set(questions.map((each) => each.step));
  const node = step === null ? undefined : drawing?.nodes.find((each) => each.step === step.split("@", 1)[0]);
  const choose = (number: number | null): void => {
    setChosen(number);
    const found = now.recoveries.find((each) => each.number === number);
    if (found !== undefined) goTo(place, { step: found.step });
  };
  return (
    <div
      className="runpage"
      data-view={tab}
      data-past={isPast ? "1" : "0"}
      data-drawer={isShut ? "shut" : "open"}
    >
      <RunHead
        run={run}
        log={timeline}
        controls={
          mayAct ? (
            <Controls run={run} step={step} shown={runControlsOf(run)} isPast={isPast} reload={live.reload} />
          ) : null
        }
      />
      {problem !== null && <Refused problem={problem} />}
      <div className="runbody">
        <section className="gpane" aria-label="Graph">
          {drawing !== null && (
            <RunGraph
              drawing={drawing}
              whole={drawn ?? drawing}
              log={timeline ?? NOTHING}
              recoveries={run.recoveries}
              at={at}
              asking={asking}
              selected={step?.split("@", 1)[0] ?? null}
              chosen={chosen}
              choose={choose}
              select={(name) => goTo(place, { step: name })}
              hrefOf={(name) => addressWith(place, { step: name })}
              itemHref={(name, scope) => addressOf(["runs", runId, nameOf(name, scope)])}
              open={(name) => goHash(addressOf(["runs", runId, name]))}
            />
          )}
          {drawing === null && <div className="gwrap" />}
          <button type="button" className="btn drawerbtn" onClick={() => setShut(false)}>
            {titleOf(tab)}
          </button>
          {timeline !== null && (
            <Scrub
              log={timeline}
              recoveries={now.recoveries}
              chosen={chosen}
              at={at}
              event={run.at?.seq === at ? run.at : null}
              go={go}
              choose={({ number, step: name, first_seq }) => {
                setChosen(number);
                goTo(place, { at: String(first_seq), step: name });
              }}
            />
          )}
        </section>
        <div className="split" />
        <section className="pane" aria-label="How it went">
          <Tabs
            place={place}
            tab={tab}
            recoveries={run.recoveries.length}
            events={timeline?.events ?? null}
            shut={() => setShut(true)}
          />
          <div className="body">
            {tab === "events" && timeline !== null && <Events runId={runId} log={timeline} at={at} go={go} />}
            {(tab === "story" || tab === "graph") && (
              <StoryTab
                run={run}
                moment={moment}
                log={timeline}
                drawing={drawing}
                chosen={chosen}
                choose={choose}
              />
            )}
            {tab === "timeline" && timeline !== null && (
              <Timeline
                run={run}
                log={timeline}
                drawing={drawing}
                recoveries={now.recoveries}
                chosen={chosen}
                choose={choose}
              />
            )}
            {tab === "state" && <State run={run} moment={moment} jobs={jobsIn(drawing)} />}
          </div>
          {node !== undefined && (
            <SelectedBar node={node} name={step!} isAsking={asking.has(node.step ?? "")} isPast={isPast}>
              <a className="btn" href={addressOf(["runs", runId, step!])}>
                Open step <Keys keys="enter" />
              </a>
            </SelectedBar>
          )}
        </section>
      </div>
    </div>
  );
}

function goHash(address: string): void {
  location.hash = address;
}

const NOTHING: Pick<TimelineData, "rows" | "candidates"> = { rows: [], candidates: [] };

/** Keeps the last data while new data is loaded, so that the page is never blank. */
function useLast<Data>(data: Data | null): Data | null {
  const last = useRef<Data | null>(null);
  if (data !== null) last.current = data;
  return data ?? last.current;
}

function jobsIn(drawing: Drawing | null): number {
  return drawing === null ? 0 : drawing.nodes.reduce((sum, { jobs }) => sum + (jobs?.total ?? 0), 0);
}

interface TabsProps {
  readonly place: Place;
  readonly tab: Tab;
  readonly recoveries: number;
  readonly events: number | null;
  /** Closes the tabs if they are a drawer. */
  readonly shut: () => void;
}

function titleOf(tab: Tab): string {
  return tab[0]!.toUpperCase() + tab.slice(1);
}

function Tabs({ place, tab, recoveries, events, shut }: TabsProps): ReactNode {
  const counts: { readonly [name in Tab]?: number | null } = { story: recoveries || null, events };
  return (
    <nav className="tabs" aria-label="About this run">
      {TABS.map((name) => (
        <a
          key={name}
          className={name === "graph" ? "only-s" : undefined}
          href={addressWith(place, { tab: name })}
          aria-current={name === tab ? "true" : undefined}
        >
          {titleOf(name)}
          {counts[name] != null && <span className="c">{counts[name]}</span>}
        </a>
      ))}
      <button type="button" className="btn icon drawerbtn" aria-label="Close this pane" onClick={shut}>
        <Icon name="cross" small />
      </button>
    </nav>
  );
}

interface StoryTabProps {
  readonly run: RunSummary;
  readonly moment: RunMoment;
  readonly log: TimelineData | null;
  readonly drawing: Drawing | null;
  readonly chosen: number | null;
  readonly choose: (number: number | null) => void;
}

function StoryTab({ run, moment, log, drawing, chosen, choose }: StoryTabProps): ReactNode {
  const { data, problem } = useStory(moment);
  const story = useLast(data);
  if (story === null) return problem === null ? null : <Refused problem={problem} />;
  return (
    <Story run={run} story={story} rows={log?.rows ?? []} drawing={drawing} chosen={chosen} choose={choose}>
      {moment.at === null && <Waits run={run} />}
    </Story>
  );
}
