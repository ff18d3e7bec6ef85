import { type ReactNode, useEffect, useRef, useState } from "react";
import { nameOf } from "../../../src/tell/lookup/job-name.js";
import type { Problem as Refusal } from "../api/client.js";
import { Keys } from "../keys/KeysOverlay.js";
import { useKeys } from "../keys/use-keys.js";
import { Refused, Skeleton } from "../parts/Notice.js";
import { useMinute } from "../parts/use-minute.js";
import { addressOf, type Place, placeOf } from "../place.js";
import {
  KIND_WORDS,
  type Kind,
  nextAfter,
  type Problem,
  type Problems,
  settleOrder,
} from "../words/problems.js";
import { count } from "../words/status.js";
import { Bulk } from "./inbox/Bulk.js";
import { Calm } from "./inbox/Calm.js";
import { Detail, toggled } from "./inbox/Detail.js";
import { Row } from "./inbox/Row.js";

interface InboxProps {
  readonly place: Place;
  /** The problems; null until they are read. */
  readonly problems: Problems | null;
  readonly refusal: Refusal | null;
  readonly mayAct: boolean;
  readonly reload: () => void;
}

/** How long a result is shown before the next problem gets the focus. */
const RESULT_MS = 4_000;
const KINDS: readonly Kind[] = ["hold", "dead_letter", "question", "failed"];

/** Lists decisions, not runs: seven runs with one cause are one row. */
export function Inbox({ place, problems, refusal, mayAct, reload }: InboxProps): ReactNode {
  const now = useMinute();
  const { rows, added, results, decided, list, showNew } = useRows(problems, place.query.get("kind"));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const asked = place.query.get("problem");
  const chosen = rows.find(({ problem }) => problem.id === asked) ?? rows[0];
  const kind = place.query.get("kind");
  const addressAt = (id: string | null): string => addressOf(["inbox"], { kind, problem: id });
  const go = (id: string | undefined): void => {
    if (id !== undefined) location.replace(addressAt(id));
  };
  const finish = (ids: readonly string[], words: string): void => {
    decided(ids, words, () => {
      setSelected((old) => new Set([...old].filter((id) => !ids.includes(id))));
      const here = placeOf(location.hash);
      const next = nextAfter(
        ids,
        rows.map(({ problem }) => problem.id),
        here,
      );
      if (next !== null && here.query.get("kind") === kind) go(next);
    });
    reload();
  };
  const picked = rows
    .filter(({ problem, isGone }) => selected.has(problem.id) && !isGone)
    .map(({ problem }) => problem);
  useInboxKeys({ rows, chosen: chosen?.problem, go, selected, setSelected, mayAct, back: addressAt(null) });
  if (problems === null) return refusal === null ? <Skeleton /> : <Refused problem={refusal} />;
  if (rows.length === 0 && problems.total === 0) return <Calm mayAct={mayAct} />;
  const isNarrowed = kind !== null && problems.counts[kind as Kind] !== undefined;
  return (
    <div className={asked === null ? "inbox" : "inbox opened"}>
      <section className="list" aria-label="Problems">
        <Head problems={problems} kind={kind} />
        {refusal !== null && <Refused problem={refusal} />}
        <div className="scroll" ref={list}>
          {added > 0 && (
            <button type="button" className="btn newrows" onClick={showNew}>
              {count(added, "new problem")}, show
            </button>
          )}
          <Sections
            rows={rows}
            render={(row) => (
              <Row
                key={row.problem.id}
                problem={row.problem}
                now={now}
                isChosen={row.problem.id === chosen?.problem.id}
                isSelected={selected.has(row.problem.id)}
                mayAct={mayAct}
                result={results.get(row.problem.id) ?? null}
                isGone={row.isGone}
                href={addressAt(row.problem.id)}
                onSelect={(withRange) =>
                  setSelected(
                    withRange ? ranged(rows, selected, row.problem.id) : toggled(selected, row.problem.id),
                  )
                }
              />
            )}
          />
          {rows.length === 0 && (
            <div className="empty">
              <h2>No {isNarrowed ? KIND_WORDS[kind as Kind].many.toLowerCase() : "problems"} now</h2>
              <a className="link" href={addressOf(["inbox"])}>
                Show all problems
              </a>
            </div>
          )}
        </div>
        {picked.length > 0 && (
          <SelectedBar
            problems={picked}
            href={addressAt(picked[0]!.id)}
            onClear={() => setSelected(new Set())}
          />
        )}
        <p className="sr" role="status">
          {added > 0 ? count(added, "new problem") : ""}
        </p>
      </section>
      <div className="split" />
      <section className="detail" aria-label="Decision">
        <a className="btn back" href={addressAt(null)}>
          All problems
        </a>
        {picked.length > 1 ? (
          <Bulk
            key={picked.map(({ id }) => id).join()}
            problems={picked}
            onDecided={(words) =>
              finish(
                picked.map(({ id }) => id),
                words,
              )
            }
          />
        ) : (
          chosen !== undefined && (
            <Detail
              key={`${chosen.problem.id} ${chosen.times}`}
              problem={chosen.problem}
              mayAct={mayAct}
              result={results.get(chosen.problem.id) ?? null}
              onDecided={(words) => finish([chosen.problem.id], words)}
            />
          )
        )}
      </section>
    </div>
  );
}

interface ShownRow {
  readonly problem: Problem;
  readonly isGone: boolean;
  /** Counts decisions, so that each gets a new panel. */
  readonly times: number;
}

/** The visible rows. While somebody points at the list, or has scrolled it, no row is added or removed. */
function useRows(problems: Problems | null, kind: string | null) {
  const [results, setResults] = useState<ReadonlyMap<string, string>>(new Map());
  const [times, setTimes] = useState<ReadonlyMap<string, number>>(new Map());
  const [, refresh] = useState(0);
  const order = useRef<readonly string[]>([]);
  const known = useRef(new Map<string, Problem>());
  const list = useRef<HTMLDivElement>(null);
  const shownKind = useRef(kind);
  const fresh = (problems?.items ?? []).filter((each) => kind === null || each.kind === kind);
  for (const problem of fresh) known.current.set(problem.id, problem);
  const isPointedAt = list.current?.matches(":hover") === true || (list.current?.scrollTop ?? 0) > 0;
  const frozen = isPointedAt && shownKind.current === kind;
  shownKind.current = kind;
  const ids = fresh.map(({ id }) => id);
  const settled = settleOrder(order.current, ids, { frozen, kept: new Set(results.keys()) });
  order.current = settled.order;
  const isThere = new Set(ids);
  const found: ShownRow[] = settled.order.flatMap((id) => {
    const problem = known.current.get(id);
    return problem === undefined ? [] : [{ problem, isGone: !isThere.has(id), times: times.get(id) ?? 0 }];
  });
  // In the order on the screen, so that j and k move down and up.
  const isFailed = ({ problem }: ShownRow): number => Number(problem.kind === "failed");
  const rows = found.sort((a, b) => isFailed(a) - isFailed(b));
  useEffect(() => {
    const leave = (): void => refresh((n) => n + 1);
    const element = list.current;
    element?.addEventListener("pointerleave", leave);
    return () => element?.removeEventListener("pointerleave", leave);
  });
  const decided = (which: readonly string[], words: string, then: () => void): void => {
    setResults(new Map([...results, ...which.map((id) => [id, words] as const)]));
    setTimeout(() => {
      setResults((old) => new Map([...old].filter(([id]) => !which.includes(id))));
      setTimes((old) => new Map([...old, ...which.map((id) => [id, (old.get(id) ?? 0) + 1] as const)]));
      order.current = order.current.filter((id) => !which.includes(id));
      then();
    }, RESULT_MS);
  };
  const showNew = (): void => {
    order.current = [];
    list.current?.scrollTo({ top: 0 });
    refresh((n) => n + 1);
  };
  return { rows, added: settled.added, results, decided, list, showNew };
}

function useInboxKeys(given: {
  readonly rows: readonly ShownRow[];
  readonly chosen: Problem | undefined;
  readonly go: (id: string | undefined) => void;
  readonly selected: ReadonlySet<string>;
  readonly setSelected: (selected: ReadonlySet<string>) => void;
  readonly mayAct: boolean;
  readonly back: string;
}): void {
  const { rows, chosen, go, selected, setSelected, mayAct, back } = given;
  const at = rows.findIndex(({ problem }) => problem.id === chosen?.id);
  const open = (tab: string | null): void => {
    const [newest] = chosen?.items ?? [];
    if (newest !== undefined)
      location.hash = addressOf(["runs", newest.run_id, nameOf(newest.step, newest.scope)], { tab });
  };
  const ids = selectable(rows);
  useKeys("Inbox", [
    {
      keys: "j|down",
      does: "next problem",
      run: () => go(rows[Math.min(at + 1, rows.length - 1)]?.problem.id),
    },
    { keys: "k|up", does: "previous problem", run: () => go(rows[Math.max(at - 1, 0)]?.problem.id) },
    { keys: "enter", does: "open the step", run: () => open(null) },
    { keys: "l", does: "log of the step", run: () => open("log") },
    ...(mayAct && chosen !== undefined
      ? [
          {
            keys: "space",
            does: "select",
            run: () => {
              // A question has its own choices, so it cannot be selected together with others.
              if (chosen.kind !== "question") setSelected(toggled(selected, chosen.id));
            },
          },
          {
            keys: "shift+space",
            does: "select up to here",
            run: () => setSelected(ranged(rows, selected, chosen.id)),
          },
          {
            keys: "a",
            does: "select all",
            run: () => setSelected(new Set(selected.size === ids.length ? [] : ids)),
          },
        ]
      : []),
    {
      keys: "esc",
      does: "clear the selection, or back",
      run: () => {
        if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
        else if (selected.size > 0) setSelected(new Set());
        else location.hash = back;
      },
      inFields: true,
    },
  ]);
}

function selectable(rows: readonly ShownRow[]): string[] {
  return rows.filter(({ problem }) => problem.kind !== "question").map(({ problem }) => problem.id);
}

/** The rows from the last selected one to this one. */
function ranged(rows: readonly ShownRow[], selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const ids = rows.map(({ problem }) => problem.id);
  const from = ids.indexOf([...selected].at(-1) ?? id);
  const to = ids.indexOf(id);
  return new Set([...selected, ...selectable(rows.slice(Math.min(from, to), Math.max(from, to) + 1))]);
}

function Head({ problems, kind }: { readonly problems: Problems; readonly kind: string | null }): ReactNode {
  const { counts, runs, total } = problems;
  return (
    <>
      <div className="head row">
        <h2>
          {count(total, "problem")} {total === 1 ? "needs" : "need"} a person
        </h2>
        <span className="dim">in {count(runs, "run")}</span>
        <span className="end row hide-s small dim">
          <Keys keys="j" />
          <Keys keys="k" /> move <Keys keys="space" /> select <Keys keys="?" /> keys
        </span>
      </div>
      <div className="filters">
        <nav className="seg" aria-label="Kinds of problems">
          <a href={addressOf(["inbox"])} aria-current={kind === null ? "true" : undefined}>
            All {total}
          </a>
          {KINDS.filter((each) => counts[each] > 0 || each === kind).map((each) => (
            <a
              key={each}
              href={addressOf(["inbox"], { kind: each })}
              aria-current={each === kind ? "true" : undefined}
            >
              {KIND_WORDS[each].many} {counts[each]}
            </a>
          ))}
        </nav>
        <span className="end small dim hide-s">sorted by steps blocked</span>
      </div>
    </>
  );
}

function Sections({
  rows,
  render,
}: {
  readonly rows: readonly ShownRow[];
  readonly render: (row: ShownRow) => ReactNode;
}): ReactNode {
  const failed = rows.filter(({ problem }) => problem.kind === "failed");
  const waiting = rows.filter(({ problem }) => problem.kind !== "failed");
  const sections = [
    { title: "Waiting for a decision", rows: waiting },
    { title: "Failed", rows: failed },
  ];
  return sections
    .filter((section) => section.rows.length > 0)
    .map((section) => (
      <div key={section.title}>
        <h3 className="sect">
          {section.title} <span className="dim3">{section.rows.length}</span>
        </h3>
        <ul>{section.rows.map(render)}</ul>
      </div>
    ));
}

function SelectedBar({
  problems,
  href,
  onClear,
}: {
  readonly problems: readonly Problem[];
  /** The address where it is decided, if that is not on the screen. */
  readonly href: string;
  readonly onClear: () => void;
}): ReactNode {
  const runs = new Set(problems.flatMap(({ items }) => items.map(({ run_id }) => run_id))).size;
  return (
    <div className="bulk" role="toolbar" aria-label="Selected problems">
      <b>
        {count(problems.length, "problem")}, {count(runs, "run")} selected
      </b>
      <span className="end small dim beside">decide on the right</span>
      <a className="btn pri end" href={href}>
        Decide
      </a>
      <button type="button" className="btn ghost" onClick={onClear}>
        Clear <Keys keys="esc" />
      </button>
    </div>
  );
}
