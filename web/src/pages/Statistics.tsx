import { type FormEvent, type ReactNode, useEffect, useId, useState } from "react";
import { api, dataOf } from "../api/client.js";
import { useLast, useLive } from "../api/use-live.js";
import { Empty, Refused, Skeleton } from "../parts/Notice.js";
import { addressOf, type Place } from "../place.js";
import {
  dayText,
  numberText,
  percentText,
  type Stats,
  startOf,
  WINDOWS,
  type Window,
} from "../words/statistics.js";
import { Costs, Models } from "./statistics/Costs.js";
import { Failures, Flakes, Rungs } from "./statistics/Failures.js";
import { OutcomeChart, Tiles } from "./statistics/Outcomes.js";
import "../styles/stats.css";
import { Listing } from "../parts/Listing.js";

const SHOWN = 8;

/** Shows which workers lose attempts. */
function WorkerTable({ stats }: { readonly stats: Stats }): ReactNode {
  const shown = stats.by_worker.slice(0, SHOWN);
  return (
    <section className="panel" aria-label="Workers">
      <header>
        <h2>Workers</h2>
        <a className="link end small" href={addressOf(["workers"])}>
          all workers
        </a>
      </header>
      <Listing
        items={shown}
        keyOf={({ worker }) => worker}
        columns={[
          {
            name: "Worker",
            look: "wide cut mono-s",
            title: ({ worker }) => worker,
            cell: ({ worker }) => worker,
          },
          {
            name: "Lost",
            look: "r",
            cell: ({ lost }) => <span className={lost > 0 ? "bad" : "dim"}>{numberText(lost)}</span>,
          },
          {
            name: "Failed",
            look: "r",
            title: ({ failed, attempts }) => `${failed} of ${attempts}`,
            cell: ({ failed, attempts }) => percentText(failed, attempts),
          },
          { name: "Attempts", look: "r", cell: ({ attempts }) => numberText(attempts) },
        ]}
      />
      {stats.by_worker.length > shown.length && (
        <p className="small dim pad">{stats.by_worker.length - shown.length} more workers lost less.</p>
      )}
    </section>
  );
}

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

interface FiltersProps {
  readonly window: Window;
  readonly workflow: string | null;
  readonly label: string | null;
}

function Filters({ window, workflow, label }: FiltersProps): ReactNode {
  const id = useId();
  const names = useWorkflows(workflow);
  const at = (changes: { readonly [name: string]: string | null }): string =>
    addressOf(["statistics"], { window: window.name, workflow, label, ...changes });
  const setLabel = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("label");
    location.hash = at({ label: String(text).trim() });
  };
  return (
    <div className="row wrap filters">
      <h2 className="big">Statistics</h2>
      <nav className="seg" aria-label="How far back">
        {WINDOWS.map(({ name, words }) => (
          <a key={name} href={at({ window: name })} aria-current={name === window.name ? "true" : undefined}>
            {words}
          </a>
        ))}
      </nav>
      <span className="row g3">
        <label className="small dim" htmlFor={`${id}-workflow`}>
          Workflow
        </label>
        <select
          id={`${id}-workflow`}
          className="input"
          value={workflow ?? ""}
          onChange={({ target }) => {
            location.hash = at({ workflow: target.value });
          }}
        >
          <option value="">all</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </span>
      <form className="row g3" onSubmit={setLabel}>
        <label className="small dim" htmlFor={`${id}-label`}>
          Label
        </label>
        <input
          key={label}
          id={`${id}-label`}
          name="label"
          className="input"
          defaultValue={label ?? ""}
          placeholder="team=core"
        />
      </form>
      {(workflow !== null || label !== null) && (
        <a className="link small" href={at({ workflow: null, label: null })}>
          Clear the filters
        </a>
      )}
    </div>
  );
}

function useWorkflows(chosen: string | null): string[] {
  const { data } = useLive(
    "workflows",
    () => dataOf(api.GET("/api/v1/workflows", { params: { query: { limit: 200 } } })),
    () => false,
  );
  const names = new Set((data?.items ?? []).map(({ name }) => name));
  if (chosen !== null) names.add(chosen);
  return [...names].sort();
}
