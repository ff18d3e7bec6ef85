import { type ReactNode, useEffect, useState } from "react";
import { api, dataOf } from "../api/client.js";
import { useLast, useLive } from "../api/use-live.js";
import { Empty, Refused } from "../parts/Notice.js";
import { Skeleton } from "../parts/Skeleton.js";
import { addressOf, type Place } from "../place.js";
import { dayText, type Stats, startOf, WINDOWS, type Window } from "../words/statistics.js";
import { Costs, Models } from "./statistics/Costs.js";
import { Failures, Flakes } from "./statistics/Failures.js";
import { Filters } from "./statistics/Filters.js";
import { OutcomeChart } from "./statistics/OutcomeChart.js";
import { Rungs } from "./statistics/Rungs.js";
import { Tiles } from "./statistics/Tiles.js";
import { WorkerTable } from "./statistics/WorkerTable.js";
import "../styles/stats.css";

/** Sums over many runs are reloaded at an interval, not with each event. */
const READ_EVERY_MS = 30_000;

/**
 * Statistics, beginning with rescued versus failed runs, which is what Daruma is for. The address contains the filters.
 */
export function Statistics({ place }: { readonly place: Place }): ReactNode {
  const window = WINDOWS.find(({ name }) => name === place.query.get("window")) ?? WINDOWS[2];
  const workflow = place.query.get("workflow");
  const label = place.query.get("label");
  const since = new Date(startOf(window, Date.now())).toISOString();
  const query = {
    since,
    bucket: window.bucket,
    ...(workflow === null ? {} : { workflow }),
    ...(label === null ? {} : { label: [label] }),
  };
  const { data, problem, reload } = useLive(
    JSON.stringify(query),
    () => dataOf(api.GET("/api/v1/stats", { params: { query } })),
    () => false,
  );
  useEffect(() => {
    const timer = setInterval(reload, READ_EVERY_MS);
    return () => clearInterval(timer);
  }, [reload]);
  // Figures and chart use the same answer, also while the next one is loaded.
  const shown = useLast(data === null ? null : { stats: data, window, since, workflow });
  return (
    <div className="page stats" aria-busy={data === null}>
      <Filters window={window} workflow={workflow} label={label} />
      {problem !== null && <Refused problem={problem} />}
      {data !== null && data.runs === 0 && (
        <Nothing isFiltered={workflow !== null || label !== null} window={window} />
      )}
      {shown === null && problem === null && <Skeleton />}
      {shown !== null && shown.stats.runs > 0 && data?.runs !== 0 && <Figures {...shown} />}
    </div>
  );
}

function Nothing({
  isFiltered,
  window,
}: {
  readonly isFiltered: boolean;
  readonly window: Window;
}): ReactNode {
  return (
    <Empty title={`No runs in the last ${window.words}${isFiltered ? " that match" : ""}`}>
      {isFiltered ? (
        <a className="link" href={addressOf(["statistics"], { window: window.name })}>
          Clear the filter
        </a>
      ) : (
        <>
          Start one: <code className="mono-s">daruma run FILE --server {location.origin}</code>
        </>
      )}
    </Empty>
  );
}

interface FiguresProps {
  readonly stats: Stats;
  readonly window: Window;
  readonly since: string;
  readonly workflow: string | null;
}

function Figures({ stats, window, since, workflow }: FiguresProps): ReactNode {
  // The time axis stays fixed while the same data is shown.
  const [now, setNow] = useState(Date.now());
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each new answer
  useEffect(() => setNow(Date.now()), [stats]);
  const from =
    stats.since === null ? "" : `${dayText(stats.since)} to ${dayText(new Date(now).toISOString())}, UTC`;
  return (
    <>
      <Tiles stats={stats} />
      <div className="cols">
        <div className="col">
          <OutcomeChart stats={stats} window={window} now={now} from={from} />
          <Failures since={since} workflow={workflow} />
          <Costs stats={stats} />
          <Models stats={stats} />
        </div>
        <div className="col">
          <Rungs stats={stats} />
          <Flakes since={since} workflow={workflow} />
          <WorkerTable stats={stats} />
        </div>
      </div>
    </>
  );
}
