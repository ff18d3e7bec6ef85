import { type ReactNode, useEffect, useRef, useState } from "react";
import { ScrollRegion } from "../parts/Listing.js";
import { Refused } from "../parts/Notice.js";
import { LogLine, sizeText } from "./LogLine.js";
import { downloadAddress, type LineItem, type LineStore } from "./line-store.js";
import { keepWindow, type LineWindow, windowAround } from "./line-window.js";
import { useVirtualLines } from "./use-lines.js";

/** More marks could not be told apart. */
const MAX_MARKS = 200;

interface OverviewProps {
  readonly total: number;
  readonly errorLines: readonly number[];
  readonly seen: { readonly first: number; readonly last: number };
  readonly onGo: (line: number) => void;
}

/** An overview of the whole log: where its errors are, and which part is visible. The keys n and p do the same. */
function Overview({ total, errorLines, seen, onGo }: OverviewProps): ReactNode {
  const share = (line: number): string => `${(100 * (line - 1)) / Math.max(1, total)}%`;
  const places = [
    ...new Set(errorLines.map((line) => Math.floor((MAX_MARKS * (line - 1)) / Math.max(1, total)))),
  ];
  const height = `${Math.max(1, (100 * (seen.last - seen.first + 1)) / Math.max(1, total))}%`;
  return (
    <div
      className="overview"
      aria-hidden="true"
      onPointerDown={({ nativeEvent, currentTarget }) => {
        const at = nativeEvent.offsetY / currentTarget.clientHeight;
        onGo(Math.min(total, 1 + Math.floor(at * total)));
      }}
    >
      <u style={{ top: share(seen.first), height }} />
      {places.map((place) => (
        <b key={place} style={{ top: `${(100 * place) / MAX_MARKS}%` }} />
      ))}
    </div>
  );
}

interface LogPaneProps {
  readonly store: LineStore;
  /** The line to scroll to. A new object scrolls again. */
  readonly target: { readonly line: number } | null;
  readonly hits: ReadonlySet<number>;
  readonly wrap: boolean;
  readonly follow: boolean;
  /** Opens at the end if no line is given, because the reason for a failure is there. */
  readonly opensAtEnd: boolean;
  readonly note: string;
  readonly onChoose: (line: number) => void;
  readonly onWhole: (item: LineItem) => void;
  readonly onLeaveEnd: () => void;
}

const HEAD_PX = 28;
const LINE_PX = 18;
const MAX_BASIS_PX = 2_000;
const SLACK_PX = 24;

/** One stream of an attempt. */
export function LogPane(props: LogPaneProps): ReactNode {
  const { store, target, wrap, follow, note } = props;
  const { stream } = store.place;
  const total = store.facts?.total ?? 0;
  const basis = total === 0 ? HEAD_PX : Math.min(MAX_BASIS_PX, HEAD_PX + total * LINE_PX + SLACK_PX);
  const [shown, setShown] = useState<LineWindow>({ first: 1, count: 0 });
  const looksAt = follow ? total : (target?.line ?? shown.first);
  const part = keepWindow(shown, Math.min(Math.max(1, looksAt), Math.max(1, total)), total);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the same part while its numbers are
  useEffect(() => setShown(part), [part.first, part.count]);
  return (
    <section
      className="logpane"
      style={{ flexBasis: basis, minHeight: `min(${basis}px, 45%)` }}
      aria-label={stream}
    >
      <div className="sh">
        <b>{stream}</b>
        <span>
          {store.facts === null
            ? ""
            : total === 0
              ? "empty"
              : `${lineCount(total)}, ${sizeText(store.facts.size)}`}
        </span>
        {store.facts?.complete === false && <span role="status">still counting its lines</span>}
        {store.facts?.truncated === true && <span>more was printed than max_log allows</span>}
        <span className="end hide-s">{note}</span>
        {part.count < total && (
          <Parts part={part} total={total} onGo={(line) => setShown(windowAround(line, total))} />
        )}
        {total > 0 && (
          <a className="link" href={downloadAddress(store.place)} download={`${stream}.log`}>
            Download
          </a>
        )}
      </div>
      {store.problem !== null && <Refused problem={store.problem} />}
      {total > 0 && <Lines {...props} part={part} wrap={wrap} />}
    </section>
  );
}

function lineCount(total: number): string {
  return total === 1 ? "1 line" : `${total.toLocaleString("en")} lines`;
}

/** Selects the part of a very long log that the scroll bar covers. */
function Parts({
  part: { first, count },
  total,
  onGo,
}: {
  readonly part: LineWindow;
  readonly total: number;
  readonly onGo: (line: number) => void;
}): ReactNode {
  const last = first + count - 1;
  return (
    <span className="row g2">
      lines {first.toLocaleString("en")} to {last.toLocaleString("en")}
      <button type="button" className="link" disabled={first === 1} onClick={() => onGo(first - count / 2)}>
        Earlier
      </button>
      <button type="button" className="link" disabled={last === total} onClick={() => onGo(last + count / 2)}>
        Later
      </button>
    </span>
  );
}

function Lines(props: LogPaneProps & { readonly part: LineWindow }): ReactNode {
  const { store, target, hits, wrap, follow, opensAtEnd, part, onChoose, onWhole, onLeaveEnd } = props;
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualLines(scroller, part.count);
  const { first, count } = part;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another width of lines is another height of each
  useEffect(() => virtual.measure(), [wrap, virtual]);
  useEffect(() => {
    if (target !== null && !follow) virtual.scrollToIndex(target.line - first, { align: "center" });
  }, [target, first, follow, virtual]);
  const hasLines = count > 0;
  useEffect(() => {
    if (opensAtEnd && hasLines) virtual.scrollToIndex(virtual.options.count - 1, { align: "end" });
  }, [opensAtEnd, hasLines, virtual]);
  const size = virtual.getTotalSize();
  const height = virtual.scrollRect?.height ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: lines that are measured late and a pane that is laid out late move the end
  useEffect(() => {
    if (follow && count > 0) virtual.scrollToIndex(count - 1, { align: "end" });
  }, [follow, count, size, height, virtual]);
  const items = virtual.getVirtualItems();
  return (
    <div className="logbox">
      <ScrollRegion
        className={wrap ? "loglines wrap" : "loglines"}
        ref={scroller}
        label={`Lines of ${store.place.stream}`}
        onWheel={({ deltaY }) => deltaY < 0 && onLeaveEnd()}
        onKeyDown={({ key }) => ["PageUp", "ArrowUp", "Home"].includes(key) && onLeaveEnd()}
      >
        <div className="logsize" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, key }) => (
            <div
              key={key}
              className="logrow"
              data-index={index}
              ref={wrap ? virtual.measureElement : undefined}
              style={{ transform: `translateY(${start}px)` }}
            >
              <LogLine
                number={first + index}
                item={store.line(first + index)}
                isAt={target?.line === first + index}
                isHit={hits.has(first + index)}
                onChoose={onChoose}
                onWhole={onWhole}
              />
            </div>
          ))}
        </div>
      </ScrollRegion>
      <Overview
        total={store.facts?.total ?? 0}
        errorLines={store.facts?.errorLines ?? []}
        seen={{ first: first + (items[0]?.index ?? 0), last: first + (items.at(-1)?.index ?? 0) }}
        onGo={onChoose}
      />
    </div>
  );
}
