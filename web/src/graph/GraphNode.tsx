import { type MouseEvent, type ReactNode, useRef } from "react";
import type { DrawnNode, TimelineRow } from "../pages/run/run-data.js";
import { Glyph } from "../parts/Glyph.js";
import { FanOut } from "./FanOut.js";
import { type Box, NODE_HEIGHT } from "./layout.js";
import { isFanOut } from "./node-size.js";

export interface NodeProps {
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
