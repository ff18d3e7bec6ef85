import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { api, dataOf } from "../api/client.js";
import { useLast, useLive } from "../api/use-live.js";
import { Keys } from "../keys/KeysOverlay.js";
import { useKeys } from "../keys/use-keys.js";
import { Doll, type Face } from "../parts/Doll.js";
import { Icon } from "../parts/Icon.js";
import { Empty, Refused, Skeleton } from "../parts/Notice.js";
import { addressOf, type Place } from "../place.js";
import { settleOrder } from "../words/problems.js";
import { count, type RunItem } from "../words/status.js";
import { RunTable } from "./runs/RunTable.js";

interface Filter {
  readonly name: string;
  readonly words: string;
  readonly face: Face | null;
  readonly query: { readonly status?: string; readonly needs_you?: true; readonly rescued?: true };
}

const ALL: Filter = { name: "", words: "All", face: null, query: {} };
const FILTERS: readonly Filter[] = [
  ALL,
  { name: "active", words: "Active", face: "running", query: { status: "pending,running,paused" } },
  { name: "needs", words: "Needs you", face: "held", query: { needs_you: true } },
  { name: "failed", words: "Failed", face: "failed", query: { status: "failed" } },
  { name: "rescued", words: "Rescued", face: "recovered", query: { rescued: true } },
  { name: "completed", words: "Completed", face: "completed", query: { status: "completed" } },
];
const SINCE: readonly (readonly [since: string, words: string])[] = [
  ["", "Any time"],
  ["1h", "Last hour"],
  ["24h", "Last 24 h"],
  ["7d", "Last 7 days"],
];
const PAGE = 100;
/** The filters of the list, which are part of its address. */
const NARROWED_BY = ["workflow", "label", "text", "since"] as const;

/** All runs, newest first. The address contains the filters. */
export function Runs({ place }: { readonly place: Place }): ReactNode {
  const filter = FILTERS.find(({ name }) => name === place.query.get("show")) ?? ALL;
  const given = Object.fromEntries(
    NARROWED_BY.flatMap((name) => {
      const value = place.query.get(name);
      return value === null || value === "" ? [] : [[name, value]];
    }),
  );
  const before = place.query.get("before");
  const query = {
    ...{ limit: PAGE, outcomes: true },
    ...filter.query,
    ...given,
    ...(before === null ? {} : { before: Number(before) }),
  };
  const { data, problem } = useLive(
    JSON.stringify(query),
    () => dataOf(api.GET("/api/v1/runs", { params: { query } })),
    () => true,
  );
  const at = (change: { readonly [name: string]: string | null }): string =>
    addressOf(["runs"], { show: filter.name, ...given, ...change });
  const shown = useLast(data);
  const { runs, added, list, showNew } = useRuns(data?.items ?? null, JSON.stringify(query));
  const chosen = useChosen(runs, list);
  return (
    <div className="runs">
      <Filters filter={filter} given={given} at={at} shown={runs.length} isMore={shown?.next != null} />
      {problem !== null && <Refused problem={problem} />}
      <div className="scroll" ref={list} aria-busy={data === null}>
        {shown === null && problem === null && <Skeleton rows={16} />}
        {added > 0 && (
          <button type="button" className="btn newrows" onClick={showNew}>
            {count(added, "new run")}, show
          </button>
        )}
        <p className="sr" role="status">
          {added > 0 ? count(added, "new run") : ""}
        </p>
        {data !== null && runs.length === 0 && <NoRuns filter={filter} given={given} />}
        {shown !== null && runs.length > 0 && (
          <RunTable runs={runs} outcomes={shown.outcomes ?? {}} chosen={chosen} />
        )}
      </div>
      <div className="row pages">
        {before !== null && (
          <a className="btn" href={at({})}>
            Newest runs
          </a>
        )}
        {data?.next != null && (
          <a className="btn" href={at({ before: String(data.next) })}>
            Older runs
          </a>
        )}
      </div>
    </div>
  );
}

/** The visible rows. While somebody points at them or has scrolled, no run is added above. */
function useRuns(fresh: readonly RunItem[] | null, key: string) {
  const [, refresh] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const order = useRef<{ readonly key: string; readonly ids: readonly string[] }>({ key, ids: [] });
  const known = useRef(new Map<number, RunItem>());
  for (const run of fresh ?? []) known.current.set(run.run_id, run);
  const isPointedAt = list.current?.matches(":hover") === true || (list.current?.scrollTop ?? 0) > 0;
  // Old rows stay while others are loaded.
  const shown = fresh === null || order.current.key === key ? order.current.ids : [];
  const ids = (fresh ?? []).map(({ run_id }) => String(run_id));
  const settled =
    fresh === null
      ? { order: shown, added: 0 }
      : settleOrder(shown, ids, { frozen: isPointedAt, kept: new Set() });
  order.current = { key: fresh === null ? order.current.key : key, ids: settled.order };
  useEffect(() => {
    const leave = (): void => refresh((n) => n + 1);
    const element = list.current;
    element?.addEventListener("pointerleave", leave);
    return () => element?.removeEventListener("pointerleave", leave);
  }, []);
  const showNew = (): void => {
    order.current = { key, ids: [] };
    list.current?.scrollTo({ top: 0 });
    refresh((n) => n + 1);
  };
  const runs = settled.order.flatMap((id) => known.current.get(Number(id)) ?? []);
  return { runs, added: settled.added, list, showNew };
}

/** Keys j and k move from run to run, Enter opens one. */
function useChosen(
  runs: readonly RunItem[],
  list: { readonly current: HTMLDivElement | null },
): number | null {
  const [chosen, setChosen] = useState<number | null>(null);
  const at = runs.findIndex(({ run_id }) => run_id === chosen);
  const go = (to: number): void => {
    const run = runs[Math.max(0, Math.min(to, runs.length - 1))];
    if (run === undefined) return;
    setChosen(run.run_id);
    list.current?.querySelector(`[data-run="${run.run_id}"]`)?.scrollIntoView({ block: "nearest" });
  };
  useKeys("Runs", [
    { keys: "j|down", does: "next run", run: () => go(at + 1) },
    { keys: "k|up", does: "previous run", run: () => go(at < 0 ? 0 : at - 1) },
    {
      keys: "enter",
      does: "open the run",
      run: () => {
        if (chosen !== null) location.hash = addressOf(["runs", chosen]);
      },
    },
    { keys: "/", does: "find", run: () => document.getElementById("find-runs")?.focus() },
    {
      keys: "esc",
      does: "leave the field",
      run: () => {
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      },
      inFields: true,
    },
  ]);
  return chosen;
}

type Given = { readonly [name: string]: string };

function Filters({
  filter,
  given,
  at,
  shown,
  isMore,
}: {
  readonly filter: Filter;
  readonly given: Given;
  readonly at: (change: { readonly [name: string]: string | null }) => string;
  readonly shown: number;
  readonly isMore: boolean;
}): ReactNode {
  const find = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(event.currentTarget)) as Given;
    location.hash = at(typed);
  };
  return (
    <form className="row wrap bar-of-filters" onSubmit={find}>
      <nav className="seg" aria-label="Which runs">
        {FILTERS.map(({ name, words, face }) => (
          <a key={name} href={at({ show: name })} aria-current={name === filter.name ? "true" : undefined}>
            {face !== null && <Doll face={face} />}
            {words}
          </a>
        ))}
      </nav>
      <span className="input findfield">
        <Icon name="find" small />
        <input
          key={given.text}
          id="find-runs"
          name="text"
          type="search"
          aria-label="Find runs by workflow, label or error"
          title="In the name of the workflow, labels and error messages"
          placeholder="Find runs"
          defaultValue={given.text ?? ""}
        />
        <Keys keys="/" />
      </span>
      <input
        key={`w ${given.workflow}`}
        className="input narrow"
        name="workflow"
        aria-label="Workflow"
        placeholder="Workflow: any"
        defaultValue={given.workflow ?? ""}
      />
      <input
        key={`l ${given.label}`}
        className="input narrow"
        name="label"
        aria-label="Label"
        placeholder="Label: any"
        defaultValue={given.label ?? ""}
      />
      <select
        className="input"
        name="since"
        aria-label="Since"
        value={given.since ?? ""}
        onChange={(event) => {
          location.hash = at({ since: event.target.value });
        }}
      >
        {SINCE.some(([since]) => since === (given.since ?? "")) ? null : (
          <option value={given.since}>since {given.since}</option>
        )}
        {SINCE.map(([since, words]) => (
          <option key={since} value={since}>
            {words}
          </option>
        ))}
      </select>
      <button type="submit" className="sr">
        Find
      </button>
      <span className="end small dim num">
        {isMore ? `the newest ${shown}` : count(shown, "run")}
        <span className="hide-n">, newest first</span>
      </span>
    </form>
  );
}

function NoRuns({ filter, given }: { readonly filter: Filter; readonly given: Given }): ReactNode {
  const narrowed = Object.entries(given);
  if (filter.name === "" && narrowed.length === 0)
    return (
      <Empty title="No runs yet">
        Start one: <code className="mono-s">daruma run FILE --server {location.origin}</code>
      </Empty>
    );
  const words = [
    ...(filter.name === "" ? [] : [`under "${filter.words}"`]),
    ...narrowed.map(([name, value]) => `with ${name} ${value}`),
  ];
  return (
    <Empty title={`No runs ${words.join(" and ")}`}>
      <a className="link" href={addressOf(["runs"])}>
        Show all runs
      </a>
    </Empty>
  );
}
