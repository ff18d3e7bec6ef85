import type { ReactNode } from "react";
import { count, type JobStatus } from "../words/status.js";
import type { NodeProps } from "./GraphNode.js";
import { NODE_HEIGHT } from "./layout.js";
import { cellPlace, itemPlace, shownItems } from "./node-size.js";

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
export function FanOut({ node, box, isNamed, isUnfolded, itemHref, fold }: NodeProps): ReactNode {
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
