import {
  BaseEdge,
  type Connection,
  Controls,
  type Edge,
  type EdgeChange,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { memo, type ReactNode, useMemo } from "react";
import { type Layout, NODE_HEIGHT } from "../graph/layout.js";
import { count } from "../words/status.js";
import type { Survey, TextProblem } from "./check.js";
import {
  classOf,
  type DrawnRoute,
  drawRoutes,
  layoutOf,
  noteOf,
  problemsOfSteps,
  shortName,
} from "./graph-model.js";

export interface DrawnEnds {
  readonly from: string;
  readonly to: string;
  readonly on: "success" | "failure";
}

interface GraphPaneProps {
  readonly graph: Survey;
  readonly problems: readonly TextProblem[];
  readonly chosen: string | null;
  readonly mayEdit: boolean;
  /** The width available to the pane. */
  readonly paneWidth: number;
  readonly onChoose: (id: string) => void;
  readonly onStep: (step: string) => void;
  readonly onDraw: (ends: DrawnEnds) => void;
}

interface StepData extends Record<string, unknown> {
  readonly step: string | null;
  readonly note: string;
  readonly shape: string;
  readonly problems: number;
  readonly mayEdit: boolean;
}
type StepNode = Node<StepData, "step">;
type RouteEdge = Edge<{ readonly route: DrawnRoute } & Record<string, unknown>, "route">;

const NODE_TYPES = { step: memo(Step) };
const EDGE_TYPES = { route: memo(Route) };
/**
 * A graph with more steps is shown at its natural size from the top, because fitted to the pane its steps would be
 * dots.
 */
const MAX_FITTED = 150;
const START_BELOW = 300;
const AROUND = { top: 0.1, bottom: 0.1, left: 0.1 } as const;
/** Width reserved for the edge's panel, so that it does not cover the graph if there is room. */
const INSPECTOR_PX = 324;

/** The graph of the text. Only visible parts are in the DOM. */
export function GraphPane({
  graph,
  problems,
  chosen,
  mayEdit,
  paneWidth,
  onChoose,
  onStep,
  onDraw,
}: GraphPaneProps): ReactNode {
  const layout = useMemo(() => layoutOf(graph), [graph]);
  const routes = useMemo(() => drawRoutes(graph, layout), [graph, layout]);
  const nodes = useMemo((): StepNode[] => {
    const counts = problemsOfSteps(graph, problems);
    return graph.nodes.map(({ name, step, label, shape }) => {
      const { x, y, width } = layout.boxes.get(name)!;
      const bad = counts.get(step ?? "") ?? 0;
      return {
        ...{ id: name, type: "step", position: { x, y }, width, height: NODE_HEIGHT, draggable: false },
        ariaLabel: step === null ? "or" : `step ${step}${bad > 0 ? `, ${count(bad, "problem")}` : ""}`,
        data: { step, note: noteOf(label), shape, problems: bad, mayEdit },
      };
    });
  }, [graph, layout, problems, mayEdit]);
  const nameOf = useMemo(() => new Map(graph.nodes.map(({ name, step }) => [name, step])), [graph]);
  const edges = useMemo(
    (): RouteEdge[] =>
      routes.map((route) => ({
        ...{ id: route.edge.id, type: "route", source: route.edge.from, target: route.edge.to },
        ...{ selected: route.edge.id === chosen, focusable: route.look !== "depends", data: { route } },
        selectable: route.look !== "depends",
        zIndex: route.look === "depends" ? 0 : 1,
        ariaLabel: `${route.look} edge from ${nameOf.get(route.edge.from) ?? "or"} to ${nameOf.get(route.edge.to) ?? "or"}`,
      })),
    [routes, chosen, nameOf],
  );
  const connect = ({ source, target, sourceHandle }: Connection): void => {
    const [from, to] = [nameOf.get(source), nameOf.get(target)];
    if (from != null && to != null && from !== to)
      onDraw({ from, to, on: sourceHandle === "success" ? "success" : "failure" });
  };
  const choose = (changes: EdgeChange<RouteEdge>[]): void => {
    for (const change of changes) if (change.type === "select" && change.selected) onChoose(change.id);
  };
  const isLarge = graph.nodes.length > MAX_FITTED;
  const beside = widthOf(layout) + INSPECTOR_PX <= paneWidth ? (`${INSPECTOR_PX}px` as const) : AROUND.left;
  return (
    <ReactFlow<StepNode, RouteEdge>
      nodes={nodes}
      edges={edges}
      nodeTypes={NODE_TYPES}
      edgeTypes={EDGE_TYPES}
      onConnect={connect}
      onEdgesChange={choose}
      onNodeClick={(_, { data }) => data.step !== null && onStep(data.step)}
      nodesConnectable={mayEdit}
      nodesDraggable={false}
      nodesFocusable={!isLarge}
      deleteKeyCode={null}
      onlyRenderVisibleElements
      onInit={(flow) => {
        const first = isLarge ? layout.boxes.get(graph.nodes[0]!.name) : undefined;
        if (first !== undefined)
          void flow.setCenter(first.x + first.width / 2, first.y + START_BELOW, { zoom: 1 });
      }}
      fitView={!isLarge}
      fitViewOptions={{ maxZoom: 1, padding: { ...AROUND, right: beside } }}
      minZoom={isLarge ? 0.5 : 0.2}
      maxZoom={2}
      proOptions={{ hideAttribution: true }}
    >
      <Arrows />
      <Controls showInteractive={false} position="bottom-right" />
    </ReactFlow>
  );
}

function widthOf({ boxes }: Layout): number {
  const all = [...boxes.values()];
  return Math.max(...all.map(({ x, width }) => x + width)) - Math.min(...all.map(({ x }) => x));
}

function Step({ data: { step, note, shape, problems, mayEdit } }: NodeProps<StepNode>): ReactNode {
  const look = problems > 0 ? "bad" : shape === "routed" ? "routed" : "";
  return (
    <div className={`gnode ${step === null ? "or" : look}`} title={step ?? undefined}>
      <Handle type="target" position={Position.Top} isConnectable={mayEdit && step !== null} />
      <span className="cut">{step === null ? "or" : shortName(step)}</span>
      {problems > 0 ? (
        <span className="note bad">{count(problems, "problem")}</span>
      ) : (
        note !== "" && <span className="note">{note}</span>
      )}
      <Handle
        id="success"
        type="source"
        position={Position.Bottom}
        className="on-success"
        isConnectable={mayEdit && step !== null}
        title="Drag to a step: it runs when this one succeeds"
      />
      <Handle
        id="failure"
        type="source"
        position={Position.Bottom}
        className="on-failure"
        isConnectable={mayEdit && step !== null}
        title="Drag to a step: it runs when this one fails"
      />
    </div>
  );
}

function Route({ data, selected }: EdgeProps<RouteEdge>): ReactNode {
  const { look, path, words, x, y, anchor } = data!.route;
  return (
    <g className={`groute ${classOf(data!.route.edge)}${selected === true ? " chosen" : ""}`}>
      {selected === true && <path className="halo" d={path} />}
      <BaseEdge
        path={path}
        markerEnd={`url(#arrow-${look})`}
        interactionWidth={look === "depends" ? 0 : 16}
      />
      {words !== "" && (
        <text className="elab" x={x} y={y} textAnchor={anchor}>
          {words}
        </text>
      )}
    </g>
  );
}

const LOOKS = ["depends", "failure", "success", "any", "repair", "goto", "undo"] as const;

function Arrows(): ReactNode {
  return (
    <svg className="arrows" aria-hidden="true">
      <defs>
        {LOOKS.map((look) => (
          <marker
            key={look}
            id={`arrow-${look}`}
            className={`arrow ${look}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0 .5 7.5 4 0 7.5z" />
          </marker>
        ))}
      </defs>
    </svg>
  );
}
