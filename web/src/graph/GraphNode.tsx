import { type MouseEvent, type ReactNode, useRef } from "react";
import type { DrawnNode, TimelineRow } from "../pages/run/run-data.js";
import { Glyph } from "../parts/Glyph.js";
import { count, type JobStatus } from "../words/status.js";
import { type Box, NODE_HEIGHT } from "./layout.js";
import { cellPlace, isFanOut, itemPlace, shownItems } from "./node-size.js";

type Jobs = NonNullable<NodeProps["node"]["jobs"]>;
type Status = JobStatus;

/** The same colours as in the rest of the page. */
const TONES: { readonly [status in Status]: string } = {
  completed: "ok",
  failed: "bad",
  held: "held",
  running: "run",
  recovering: "mend",
  waiting: "mend",
  ready: "wait",
  blocked: "wait",
  skipped: "stop",
  canceled: "stop",
};

/** The order of the parts of a bar. */
const ORDER = Object.keys(TONES) as Status[];

/** A fan-out as one card: a cell for each item, a bar if there are very many, or a line for each if unfolded. */
function FanOut({ node, box, isNamed, isUnfolded, itemHref, fold }: NodeProps): ReactNode {
  const jobs = node.jobs!;
  const height = box.height ?? NODE_HEIGHT;
  return (
    <>
      {isUnfolded ? (
        <Items jobs={jobs} width={box.width} itemHref={itemHref} shown={shownItems(node)} />
      ) : (
        <Cells jobs={jobs} width={box.width} />
      )}
      {isNamed && (
        <text className="sum" x="10" y={height - 8}>
          {summary(jobs)}
        </text>
      )}
      {isNamed && jobs.cells.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: there are no buttons inside a picture
        <g
          className="fold"
          role="button"
          tabIndex={0}
          aria-label={isUnfolded ? `Fold ${node.step}` : `Unfold ${node.step}`}
          aria-expanded={isUnfolded}
          transform={`translate(${box.width - 26} 4)`}
          onClick={fold}
          onKeyDown={({ key }) => (key === "Enter" || key === " ") && fold()}
        >
          <rect width="22" height="20" rx="4" />
          <path d={isUnfolded ? "m7 12 4-4 4 4" : "m7 8 4 4 4-4"} />
        </g>
      )}
    </>
  );
}

function summary({ total, counts, again }: Jobs): string {
  const rest = ORDER.filter((status) => status !== "completed" && (counts[status] ?? 0) > 0).map(
    (status) => `${counts[status]} ${status}`,
  );
  const done = counts.completed ?? 0;
  const parts = [
    ...(done - again > 0 && (again > 0 || rest.length > 0) ? [`${done - again} passed`] : []),
    ...(again > 0 ? [`${again} passed on retry`] : []),
    ...rest,
  ];
  return `${count(total, "item")}${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`;
}

function Cells({ jobs, width }: { readonly jobs: Jobs; readonly width: number }): ReactNode {
  if (jobs.cells.length === 0) return <Bar jobs={jobs} width={width} />;
  return jobs.cells.map(({ scope, status, again, handled }, index) => {
    const { x, y } = cellPlace(index);
    return (
      <g key={scope}>
        <rect
          className={`pip ${handled ? "handled" : TONES[status]}`}
          x={x}
          y={y}
          width="9"
          height="9.5"
          rx="1.5"
        />
        {again && <rect className="pip gold" x={x} y={y} width="9" height="4.5" rx="1.5" />}
      </g>
    );
  });
}

function Bar({ jobs: { counts, total }, width }: { readonly jobs: Jobs; readonly width: number }): ReactNode {
  const full = width - 20;
  let x = 10;
  return ORDER.map((status) => {
    const share = counts[status] ?? 0;
    if (share === 0) return null;
    // At least 3 px, so that even one failure among very many is visible.
    const part = Math.max(3, (full * share) / total);
    const start = x;
    x = Math.min(width - 10, x + part);
    return (
      <rect
        key={status}
        className={`pip ${TONES[status]}`}
        x={start}
        y="29"
        width={Math.max(1, x - start)}
        height="9.5"
      />
    );
  });
}

interface ItemsProps {
  readonly jobs: Jobs;
  readonly width: number;
  readonly shown: number;
  readonly itemHref: (scope: string) => string;
}

function Items({ jobs, width, shown, itemHref }: ItemsProps): ReactNode {
  return jobs.cells.slice(0, shown).map(({ scope, status, again }, index) => (
    <a key={scope} className="item-of" href={itemHref(scope)}>
      <rect className="hit" x="6" y={itemPlace(index) - 4} width={width - 12} height="18" rx="3" />
      <rect className={`pip ${TONES[status]}`} x="12" y={itemPlace(index)} width="9" height="9.5" rx="1.5" />
      <text x="28" y={itemPlace(index) + 9}>
        {scope.slice(scope.lastIndexOf("[")) || scope} {status}
        {again ? ", tried again" : ""}
      </text>
    </a>
  ));
}

interface NodeProps {
  readonly node: DrawnNode;
  readonly box: Box;
  readonly row: TimelineRow | undefined;
  /** The event whose moment is shown; null for the end of the log. */
  readonly at: number | null;
  readonly isMended: boolean;
  /** The step waits for a person's answer. */
  readonly isAsking: boolean;
  readonly isSelected: boolean;
  readonly isNamed: boolean;
  readonly isUnfolded: boolean;
  readonly href: string;
  readonly itemHref: (scope: string) => string;
  readonly open: () => void;
  readonly fold: () => void;
}

const MAX_PIPS = 8;

/** One step: its status by colour and shape, the order of its visits, a bar for each attempt. */
export function GraphNode(props: NodeProps): ReactNode {
  const { node, box, row, at, isMended, isAsking, isSelected, isNamed, href, open } = props;
  const first = useRef(node.status);
  const transform = `translate(${box.x} ${box.y})`;
  const height = box.height ?? NODE_HEIGHT;
  if (node.step === null)
    return (
      <g className="node or" transform={transform}>
        <rect className="bx" width={box.width} height={height} rx="6" />
        <text x={box.width / 2} y="22" textAnchor="middle">
          or
        </text>
      </g>
    );
  const status = node.status ?? "blocked";
  const isHandled = status === "failed" && (node.jobs?.handled ?? 0) === (node.jobs?.counts.failed ?? 0);
  const isRecovered = isMended && status === "completed";
  const shape = isHandled ? "handled" : isAsking ? "asking" : isRecovered ? "recovered" : status;
  const look = shape === "asking" ? "held" : isRecovered ? "completed recovered" : shape;
  const word = isHandled ? "failed, handled" : isAsking ? "asks a question" : status;
  const many = isFanOut(node);
  // In the past, a fan-out without items yet keeps its space.
  const isCard = many || height > NODE_HEIGHT;
  const visits = many ? [] : (row?.visits ?? []).filter(({ seq }) => at === null || seq <= at);
  const press = (event: MouseEvent): void => {
    if (event.detail > 1) open();
  };
  return (
    <g className={`node ${look}${isSelected ? " selected" : ""}`} transform={transform}>
      <a href={href} data-node={node.name} aria-current={isSelected ? "true" : undefined} onClick={press}>
        <rect className="ring" x="-4" y="-4" width={box.width + 8} height={height + 8} rx="9" />
        <rect className="bx" width={box.width} height={height} rx="6" />
        {node.status !== first.current && (
          <rect key={node.status} className="flash" width={box.width} height={height} rx="6" />
        )}
        <svg x="10" y={isCard ? 9 : height / 2 - 7} width="14" height="14" aria-hidden="true">
          <Glyph status={shape} />
        </svg>
        <text className={isNamed ? undefined : "unseen"} x="30" y={isCard || hasPips(row) ? 19 : 22}>
          {node.step}
        </text>
        <text className="unseen" x="30" y="22">{` ${word} `}</text>
        {isNamed && visits.length > 0 && (
          <text className="or" x={box.width - 8} y="18">
            {visits
              .slice(-4)
              .map(({ order }) => order)
              .join(" ")}
          </text>
        )}
        {!many && isNamed && <Pips row={row} at={at} />}
      </a>
      {many && <FanOut {...props} />}
    </g>
  );
}

function hasPips(row: TimelineRow | undefined): boolean {
  return row !== undefined && row.attempts > 1;
}

function Pips({ row, at }: { readonly row: TimelineRow | undefined; readonly at: number | null }): ReactNode {
  if (!hasPips(row)) return null;
  const attempts = row!.spans.filter(({ kind, seq }) => kind === "attempt" && (at === null || seq <= at));
  return attempts.slice(-MAX_PIPS).map(({ seq, end_seq, outcome }, index) => {
    const isOver = end_seq !== null && (at === null || end_seq <= at);
    return (
      <rect
        key={seq}
        className={`pip ${isOver && outcome !== null ? PIPS[outcome] : "run"}`}
        x={30 + index * 13}
        y="25"
        width="11"
        height="4.5"
        rx="1.5"
      />
    );
  });
}

const PIPS = { completed: "ok", failed: "bad", stopped: "stop" } as const;
