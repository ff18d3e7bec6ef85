import { type ReactNode, useState } from "react";
import { nameOf } from "../../../src/tell/lookup/job-name.js";
import { RunGraph } from "../graph/RunGraph.js";
import { RunHead } from "../pages/run/RunHead.js";
import { defaultStep } from "../pages/run/run-standing.js";
import { SelectedBar } from "../pages/run/SelectedBar.js";
import { Story } from "../pages/run/Story.js";
import { Timeline } from "../pages/run/Timeline.js";
import { switchTheme } from "../parts/appearance.js";
import { Icon } from "../parts/Icon.js";
import { addressOf } from "../place.js";
import { usePlace } from "../use-place.js";
import { exactTime } from "../words/times.js";
import { FailedLogs, logOf } from "./FailedLogs.js";
import type { ReportData } from "./report-data.js";

/** One run as it was when the report was written. This file contains all of it. */
export function Report({ data }: { readonly data: ReportData }): ReactNode {
  const { run, story, timeline, graph, logs, left_out: left, made_at } = data;
  const { path } = usePlace();
  const [chosen, setChosen] = useState<number | null>(null);
  const recovery = run.recoveries.find(({ number }) => number === chosen);
  const asked = path[2] ?? null;
  const name = recovery?.step ?? asked ?? defaultStep(run);
  const step = name?.split("@", 1)[0] ?? null;
  const node = graph?.nodes.find((each) => each.step === step);
  const log = name === null ? undefined : logOf(logs, name);
  const hrefOf = (of: string): string => addressOf(["runs", run.run_id, of]);
  const go = (of: string): void => {
    setChosen(null);
    location.hash = hrefOf(of);
  };
  return (
    <main className="report runpage">
      <h1 className="sr">
        Report of run {run.run_id} of {run.workflow}
      </h1>
      <RunHead run={run} log={timeline} controls={null}>
        <button type="button" className="btn icon" aria-label="Theme" onClick={switchTheme}>
          <Icon name="theme" />
        </button>
      </RunHead>
      <div className="runbody">
        <section className="gpane" aria-label="Graph">
          {graph === null ? (
            <LeftOut text={left.graph} />
          ) : (
            <RunGraph
              drawing={graph}
              log={timeline}
              recoveries={run.recoveries}
              at={null}
              selected={step}
              chosen={chosen}
              choose={setChosen}
              select={go}
              hrefOf={hrefOf}
              itemHref={(of, scope) => hrefOf(nameOf(of, scope))}
              open={go}
            />
          )}
          {node !== undefined && name !== null && (
            <SelectedBar node={node} name={name} isAsking={false} isPast={false}>
              {log === undefined ? (
                <span className="dim small">{node.jobs === null ? "" : "no log in this report"}</span>
              ) : (
                <a className="btn" href={hrefOf(name)} onClick={() => setChosen(null)}>
                  Show log
                </a>
              )}
            </SelectedBar>
          )}
        </section>
        <div className="split" />
        <section className="pane" aria-label="How it went">
          <div className="body">
            <h3 className="part">Story</h3>
            <LeftOut text={left.story} />
            <Story
              run={run}
              story={story}
              rows={timeline.rows}
              drawing={graph}
              chosen={chosen}
              choose={setChosen}
            />
            {run.error !== null && run.summary.failures.length === 0 && (
              <p className="pad bad">{run.error.message}</p>
            )}
            <h3 className="part">Timeline</h3>
            <LeftOut text={left.timeline} />
            <div className="body timebody">
              <Timeline
                run={run}
                log={timeline}
                drawing={graph}
                recoveries={run.recoveries}
                chosen={chosen}
                choose={setChosen}
              />
            </div>
            <h3 className="part">Logs of what failed</h3>
            <LeftOut text={left.logs} />
            <FailedLogs logs={logs} asked={asked} />
            <p className="pad small dim">Written {exactTime(made_at)}. This file needs no server.</p>
          </div>
        </section>
      </div>
    </main>
  );
}

function LeftOut({ text }: { readonly text: string | null }): ReactNode {
  return text === null ? null : <p className="pad small dim">{text}</p>;
}
