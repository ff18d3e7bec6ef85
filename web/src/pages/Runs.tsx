import type { ReactNode } from "react";
import { durationText } from "../../../src/report/words/duration-text.js";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { Doll } from "../parts/Doll.js";
import { Empty, Refused } from "../parts/Notice.js";
import { addressOf, type Place } from "../place.js";
import { type RunItem, type RunStatus, standingOf } from "../words/status.js";
import { clockTime, exactTime } from "../words/times.js";

const FILTERS: readonly {
  readonly name: string;
  readonly words: string;
  readonly status: readonly RunStatus[];
}[] = [
  { name: "", words: "All", status: [] },
  { name: "active", words: "Active", status: ["pending", "running", "paused"] },
  { name: "held", words: "Needs you", status: ["held"] },
  { name: "failed", words: "Failed", status: ["failed"] },
  { name: "completed", words: "Completed", status: ["completed"] },
];

const PAGE = 100;

/** All runs, newest first. What is shown of them is in the address. */
export function Runs({ place }: { readonly place: Place }): ReactNode {
  const shown = place.query.get("show") ?? "";
  const before = place.query.get("before");
  const workflow = place.query.get("workflow");
  const filter = FILTERS.find(({ name }) => name === shown) ?? FILTERS[0]!;
  const query = {
    limit: PAGE,
    ...(filter.status.length === 0 ? {} : { status: filter.status.join(",") }),
    ...(before === null ? {} : { before: Number(before) }),
    ...(workflow === null ? {} : { workflow }),
  };
  const { data, problem } = useLive(
    JSON.stringify(query),
    () => dataOf(api.GET("/api/v1/runs", { params: { query } })),
    () => true,
  );
  return (
    <div className="runs">
      <div className="row wrap bar-of-filters">
        <nav className="seg" aria-label="Which runs">
          {FILTERS.map(({ name, words }) => (
            <a
              key={name}
              href={addressOf(["runs"], { show: name, workflow })}
              aria-current={name === filter.name ? "true" : undefined}
            >
              {words}
            </a>
          ))}
        </nav>
        {workflow !== null && (
          <a className="btn" href={addressOf(["runs"], { show: shown })}>
            Workflow: {workflow} ×
          </a>
        )}
        <span className="end small dim">newest first, times in UTC</span>
      </div>
      {problem !== null && <Refused problem={problem} />}
      {data !== null &&
        (data.items.length === 0 ? <NoRuns filter={filter.words} /> : <RunTable runs={data.items} />)}
      {data?.next != null && (
        <a
          className="btn more"
          href={addressOf(["runs"], { show: shown, workflow, before: String(data.next) })}
        >
          Older runs
        </a>
      )}
    </div>
  );
}

function NoRuns({ filter }: { readonly filter: string }): ReactNode {
  if (filter !== "All")
    return (
      <Empty title={`No run is under "${filter}"`}>
        <a className="link" href={addressOf(["runs"])}>
          Show all runs
        </a>
      </Empty>
    );
  return (
    <Empty title="No runs yet">
      Start one: <code className="mono-s">daruma run FILE --server {location.origin}</code>
    </Empty>
  );
}

function RunTable({ runs }: { readonly runs: readonly RunItem[] }): ReactNode {
  return (
    <div className="scroll">
      <table className="t">
        <thead>
          <tr>
            <th>Status</th>
            <th>Run</th>
            <th>Workflow</th>
            <th className="wide">What happened</th>
            <th className="r">Started</th>
            <th className="r">Took</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.run_id} run={run} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunRow({ run }: { readonly run: RunItem }): ReactNode {
  const { face, words, tone } = standingOf(run);
  const happened = run.error === null ? "" : `${run.error.message} (${run.error.code})`;
  return (
    <tr>
      <td>
        <span className={`row status ${tone}`}>
          <Doll face={face} />
          {words}
        </span>
      </td>
      <td>
        <a className="link num" href={addressOf(["runs", run.run_id])}>
          #{run.run_id}
        </a>
      </td>
      <td>
        <a href={addressOf(["runs"], { workflow: run.workflow })}>{run.workflow}</a>
      </td>
      <td className="wide cut" title={happened}>
        {happened}
      </td>
      <td className="r" title={exactTime(run.created_at)}>
        {clockTime(run.created_at)}
      </td>
      <td className="r">{run.duration_ms === null ? "" : durationText(run.duration_ms)}</td>
    </tr>
  );
}
