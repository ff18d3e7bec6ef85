import { type ReactNode, useEffect, useRef, useState } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { Refused } from "../../parts/Notice.js";
import type { TimelineData } from "./run-data.js";
import {
  type EventWindow,
  type Filter,
  type ShownEvent,
  textOf,
  toneOf,
  useLog,
  useMatches,
} from "./use-events.js";

const ROW_HEIGHT = 26;
/** Rows rendered outside of the window, so that nothing is blank while scrolling. */
const MARGIN_ROWS = 15;
const KINDS = ["all", "failures", "decisions"] as const;

interface EventsProps {
  readonly runId: number;
  readonly log: TimelineData;
  readonly at: number | null;
  readonly go: (at: number | null) => void;
}

/** The log as it was written. However long it is, only visible rows are rendered. */
export function Events({ runId, log, at, go }: EventsProps): ReactNode {
  const [filter, setFilter] = useState<Filter>({ kind: "all", text: "" });
  const isAll = filter.kind === "all" && filter.text === "";
  const whole = useLog(runId, log.events);
  const matches = useMatches(runId, filter, log.events);
  const counts = { all: log.events, failures: log.failures, decisions: log.decisions };
  return (
    <div className="events">
      <div className="evbar row g3">
        <input
          className="input grow"
          type="search"
          placeholder="type, step, text"
          aria-label="Find in the log"
          value={filter.text}
          onChange={(event) => setFilter({ ...filter, text: event.target.value })}
        />
        <div className="seg">
          {KINDS.map((kind) => (
            <button
              key={kind}
              type="button"
              aria-pressed={filter.kind === kind}
              onClick={() => setFilter({ ...filter, kind })}
            >
              {kind[0]!.toUpperCase() + kind.slice(1)} <span className="num">{counts[kind]}</span>
            </button>
          ))}
        </div>
      </div>
      <Rows
        key={isAll ? "all" : `${filter.kind} ${filter.text}`}
        events={isAll ? whole : matches}
        start={Date.parse(log.first_at)}
        at={at}
        go={go}
        last={log.events}
        opensAtEnd={isAll}
      />
    </div>
  );
}

interface RowsProps {
  readonly events: EventWindow;
  readonly start: number;
  readonly at: number | null;
  readonly go: (at: number | null) => void;
  readonly last: number;
  readonly opensAtEnd: boolean;
}

function Rows({ events, start, at, go, last, opensAtEnd }: RowsProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const { count, rowAt, want, problem, names } = events;
  const first = Math.max(0, Math.floor(place.top / ROW_HEIGHT) - MARGIN_ROWS);
  const end = Math.min(count, Math.ceil((place.top + place.height) / ROW_HEIGHT) + MARGIN_ROWS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens at the moment that is shown, once
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = (): void => setPlace({ top: element.scrollTop, height: element.clientHeight });
    const wanted = at ?? (opensAtEnd ? count : 0);
    element.scrollTop = Math.max(0, wanted * ROW_HEIGHT - element.clientHeight / 2);
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (end > first) want(first, end - 1);
  }, [first, end, want]);
  const rows: ReactNode[] = [];
  for (let index = first; index < end; index += 1)
    rows.push(
      <Row
        key={index}
        event={rowAt(index)}
        names={names}
        index={index}
        start={start}
        at={at}
        choose={(seq) => go(seq >= last ? null : seq)}
      />,
    );
  return (
    <section
      ref={box}
      className="evrows"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard
      tabIndex={0}
      aria-label="Events"
      onScroll={({ currentTarget }) =>
        setPlace({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })
      }
    >
      {problem !== null && <Refused problem={problem} />}
      {count === 0 && problem === null && <p className="small dim pad">No event matches.</p>}
      <div className="evall" style={{ height: count * ROW_HEIGHT }}>
        {rows}
      </div>
    </section>
  );
}

interface RowProps {
  readonly event: ShownEvent | null;
  readonly names: ReadonlyMap<number, string>;
  readonly index: number;
  readonly start: number;
  readonly at: number | null;
  readonly choose: (seq: number) => void;
}

function Row({ event, names, index, start, at, choose }: RowProps): ReactNode {
  const style = { top: index * ROW_HEIGHT };
  if (event === null) return <div className="ev dim" style={style} />;
  const { job, text } = textOf(event, names);
  const isFuture = at !== null && event.seq > at;
  return (
    <div className={`ev${event.seq === at ? " sel" : ""}${isFuture ? " future" : ""}`} style={style}>
      <button
        type="button"
        className="r num"
        aria-label={`Show the run after event ${event.seq}`}
        onClick={() => choose(event.seq)}
      >
        {event.seq}
      </button>
      <span className="dim num" title={event.at}>
        +{durationText(Math.max(0, Date.parse(event.at) - start))}
      </span>
      <span className={`mono-s ${toneOf(event.type)}`}>{event.type}</span>
      <span className="cut" title={job === null ? text : `${job} ${text}`}>
        {job !== null && <span className="of">{job} </span>}
        {text}
      </span>
    </div>
  );
}
