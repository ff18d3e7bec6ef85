import { type PointerEvent, type ReactNode, useMemo, useRef, useState, type WheelEvent } from "react";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { Glyph } from "../parts/Glyph.js";
import { Refused } from "../parts/Notice.js";
import { addressOf } from "../place.js";
import type { Recovery } from "../words/recoveries.js";
import { jobStatusWord, type RunDetails } from "../words/status.js";
import { arcOf, backArcOf, edgePath } from "./edge-paths.js";
import { type Box, layOut, NODE_HEIGHT } from "./layout.js";

type Drawing = NonNullable<Awaited<ReturnType<typeof readGraph>>["graph"]>;
type DrawnNode = Drawing["nodes"][number];
type DrawnEdge = Drawing["edges"][number];

function readGraph(runId: number) {
  return dataOf(api.POST("/api/v1/workflows/graph", { body: { run_id: runId, format: "json" } }));
}

/** More than these are not drawn: a browser becomes slow, and nobody reads it. */
const MAX_NODES = 400;
const CHAR_WIDTH = 7.3;

interface RunGraphProps {
  readonly run: RunDetails;
  readonly recoveries: readonly Recovery[];
}

/** The steps of a run as they depend on each other, and over them what was recovered, each with its number. */
export function RunGraph({ run, recoveries }: RunGraphProps): ReactNode {
  const { data, problem } = useLive(
    `graph ${run.run_id}`,
    () => readGraph(run.run_id),
    (changed) => changed === run.run_id,
  );
  if (problem !== null) return <Refused problem={problem} />;
  const drawing = data?.graph;
  if (drawing == null) return null;
  if (drawing.nodes.length > MAX_NODES)
    return (
      <p className="pad dim">
        This workflow has {drawing.nodes.length} steps, too many to draw. They are listed under Steps.
      </p>
    );
  return <Picture run={run} drawing={drawing} recoveries={recoveries} />;
}

interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const START: View = { x: 0, y: 0, scale: 1 };
const ZOOM = 1.25;

function Picture({ run, drawing, recoveries }: RunGraphProps & { readonly drawing: Drawing }): ReactNode {
  const shape = JSON.stringify([drawing.nodes.map(({ name, label }) => [name, label]), drawing.edges]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a status that changes moves nothing
  const layout = useMemo(() => layoutOf(drawing), [shape]);
  const [view, setView] = useState(START);
  const grabbed = useRef<{ readonly x: number; readonly y: number } | null>(null);
  const zoom = (factor: number): void =>
    setView((old) => ({ ...old, scale: Math.min(3, Math.max(0.2, old.scale * factor)) }));
  const move = (event: PointerEvent): void => {
    if (grabbed.current === null) return;
    const [dx, dy] = [event.clientX - grabbed.current.x, event.clientY - grabbed.current.y];
    grabbed.current = { x: event.clientX, y: event.clientY };
    setView((old) => ({ ...old, x: old.x + dx, y: old.y + dy }));
  };
  const grab = (event: PointerEvent): void => {
    grabbed.current = { x: event.clientX, y: event.clientY };
  };
  const wheel = (event: WheelEvent): void => {
    if (event.ctrlKey || event.metaKey) zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM);
    else setView((old) => ({ ...old, x: old.x - event.deltaX, y: old.y - event.deltaY }));
  };
  const letGo = (): void => {
    grabbed.current = null;
  };
  return (
    <div
      className="gwrap"
      onPointerDown={grab}
      onPointerMove={move}
      onPointerUp={letGo}
      onPointerLeave={letGo}
      onWheel={wheel}
    >
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: its steps are links with names of their own */}
      <svg
        className="graph"
        width={layout.width}
        height={layout.height}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
      >
        <Edges drawing={drawing} boxes={layout.boxes} />
        {drawing.nodes.map((node) => (
          <Node key={node.name} run={run} node={node} box={layout.boxes.get(node.name)!} />
        ))}
        <Recoveries recoveries={recoveries} drawing={drawing} boxes={layout.boxes} />
      </svg>
      <div className="zoom">
        <button type="button" className="btn icon" aria-label="Zoom in" onClick={() => zoom(ZOOM)}>
          +
        </button>
        <button type="button" className="btn icon" aria-label="Zoom out" onClick={() => zoom(1 / ZOOM)}>
          −
        </button>
        <button type="button" className="btn icon" aria-label="As at first" onClick={() => setView(START)}>
          ◦
        </button>
      </div>
    </div>
  );
}

function layoutOf({ nodes, edges }: Drawing) {
  return layOut({
    nodes: nodes.map(({ name, step }) => ({
      name,
      width: step === null ? 30 : Math.max(90, step.length * CHAR_WIDTH + 56),
    })),
    edges: edges.filter(({ kind }) => kind === "depends"),
    routes: edges
      .filter(({ kind }) => kind !== "depends")
      .map(({ from, to, kind }) => ({ from, to, below: kind.startsWith("transition") })),
  });
}

function Node({
  run,
  node,
  box,
}: {
  readonly run: RunDetails;
  readonly node: DrawnNode;
  readonly box: Box;
}): ReactNode {
  const jobs = run.jobs.filter(({ step }) => step === node.step);
  const handled = jobs.some((job) => job.handled);
  const status = node.status ?? "blocked";
  const transform = `translate(${box.x} ${box.y})`;
  if (node.step === null)
    return (
      <g className="node or" transform={transform}>
        <rect className="bx" width={box.width} height={NODE_HEIGHT} rx="6" />
        <text x={box.width / 2} y="22" textAnchor="middle">
          or
        </text>
      </g>
    );
  const attempts = jobs.length === 1 ? jobs[0]!.attempts : 0;
  const many = jobs.length > 1 ? `${jobs.length} jobs` : attempts > 1 ? String(attempts) : "";
  const word = handled ? "failed, handled" : jobStatusWord(status);
  return (
    <a href={addressOf(["runs", run.run_id, node.step])}>
      <g
        className={`node ${status === "pending_failed" ? "held" : handled ? "handled" : status}`}
        transform={transform}
      >
        <rect className="bx" width={box.width} height={NODE_HEIGHT} rx="6" />
        <svg x="10" y={NODE_HEIGHT / 2 - 7} width="14" height="14" aria-hidden="true">
          <Glyph status={handled ? "handled" : status} />
        </svg>
        <text x="32" y="22">
          {node.step}
        </text>
        <text className="unseen" x="32" y="22">{` ${word} `}</text>
        {many !== "" && (
          <text className="count" x={box.width - 8} y="22" textAnchor="end">
            {many}
          </text>
        )}
      </g>
    </a>
  );
}

const EDGE_CLASS: { readonly [kind in DrawnEdge["kind"]]: string } = {
  depends: "e took",
  on_fail: "e fail idle",
  on_success: "e",
  transition_success: "e",
  transition_failure: "e fail idle",
  transition_any: "e",
};

function Edges({
  drawing,
  boxes,
}: {
  readonly drawing: Drawing;
  readonly boxes: ReadonlyMap<string, Box>;
}): ReactNode {
  const skipped = new Set(
    drawing.nodes
      .filter(({ status }) => status === "skipped" || status === "blocked" || status === null)
      .map(({ name }) => name),
  );
  return (
    <g>
      {drawing.edges.map(({ from, to, kind, label }) => {
        const [start, end] = [boxes.get(from), boxes.get(to)];
        if (start === undefined || end === undefined) return null;
        const isGoto = kind === "on_fail" && end.y <= start.y;
        if (isGoto) return null;
        const className = kind === "depends" && skipped.has(to) ? "e" : EDGE_CLASS[kind];
        return (
          <path key={`${from} ${to} ${kind} ${label}`} className={className} d={edgePath(start, end)}>
            {label !== null && <title>{label}</title>}
          </path>
        );
      })}
    </g>
  );
}

function Recoveries({
  recoveries,
  drawing,
  boxes,
}: {
  readonly recoveries: readonly Recovery[];
  readonly drawing: Drawing;
  readonly boxes: ReadonlyMap<string, Box>;
}): ReactNode {
  const nameOf = new Map(drawing.nodes.map(({ name, step }) => [step, name]));
  const met = new Map<string, number>();
  return (
    <g>
      {recoveries.map(({ number, step, to, rung }) => {
        const start = boxes.get(nameOf.get(step) ?? "");
        const end = boxes.get(nameOf.get(to) ?? "");
        if (start === undefined) return null;
        const key = `${step} ${to} ${rung}`;
        const lane = met.get(key) ?? 0;
        met.set(key, lane + 1);
        const isLoop = end === undefined || end === start;
        const arc = isLoop ? arcOf(start, lane) : backArcOf(start, end, lane, boxes.values());
        const isEdge = rung === "edge";
        return (
          <g key={number}>
            <path className={isEdge ? "e fail" : "e back"} d={arc.path} />
            <g className={isEdge ? "bdg f" : "bdg"} transform={`translate(${arc.x} ${arc.y})`}>
              <circle r="9" />
              <text y="4">{number}</text>
            </g>
          </g>
        );
      })}
    </g>
  );
}
