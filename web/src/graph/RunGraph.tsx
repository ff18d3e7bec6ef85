import { type ReactNode, useMemo, useState } from "react";
import { useKeys } from "../keys/use-keys.js";
import type { Drawing, DrawnNode, TimelineData } from "../pages/run/run-data.js";
import type { Recovery } from "../words/recoveries.js";
import { Edges, Markers, RecoveryArcs } from "./Edges.js";
import { GraphNode } from "./GraphNode.js";
import { GraphTools, Minimap } from "./GraphTools.js";
import { type Box, type Layout, layOut, NODE_HEIGHT } from "./layout.js";
import { sizeOf } from "./node-size.js";
import { useView } from "./use-view.js";
import { isSeen, MAX_NODES, neighbour, showsNames } from "./view.js";

interface GraphKeys {
  readonly drawing: Drawing;
  readonly layout: Layout;
  readonly selectedName: string | null;
  readonly select: (step: string) => void;
  readonly show: (name: string) => void;
  readonly zoom: (factor: number) => void;
  readonly fitAll: () => void;
}

const ZOOM = 1.25;

/** Keys that zoom, fit, and move from step to step along edges. */
function useGraphKeys({ drawing, layout, selectedName, select, show, zoom, fitAll }: GraphKeys): void {
  const walk = (key: "up" | "down" | "left" | "right"): void => {
    const from = selectedName ?? drawing.nodes[0]?.name;
    if (from === undefined) return;
    const name = selectedName === null ? from : neighbour(layout, drawing.edges, from, key);
    const step = drawing.nodes.find((node) => node.name === name)?.step;
    if (name === null || step == null) return;
    select(step);
    show(name);
  };
  useKeys("Graph", [
    { keys: "+|=", does: "larger", run: () => zoom(ZOOM) },
    { keys: "-", does: "smaller", run: () => zoom(1 / ZOOM) },
    { keys: ".", does: "fit to window", run: fitAll },
    { keys: "up", does: "to a step before", run: () => walk("up") },
    { keys: "down", does: "to a step after", run: () => walk("down") },
    { keys: "left", does: "to the left", run: () => walk("left") },
    { keys: "right", does: "to the right", run: () => walk("right") },
  ]);
}

interface RunGraphProps {
  readonly drawing: Drawing;
  /** The present graph. It determines the layout, so that nothing moves while somebody browses the past. */
  readonly whole?: Drawing;
  readonly log: Pick<TimelineData, "rows" | "candidates">;
  readonly recoveries: readonly Recovery[];
  readonly at: number | null;
  /** Steps that wait for a person's answer. */
  readonly asking?: ReadonlySet<string>;
  /** The selected step. */
  readonly selected: string | null;
  readonly chosen: number | null;
  readonly choose: (number: number) => void;
  readonly select: (step: string) => void;
  readonly hrefOf: (step: string) => string;
  readonly itemHref: (step: string, scope: string) => string;
  readonly open: (step: string) => void;
}

/** The steps of a run with their dependencies, and recoveries on top, each with its number. */
export function RunGraph(props: RunGraphProps): ReactNode {
  const { drawing, log, recoveries, at, selected, chosen, choose, hrefOf, itemHref, open, select } = props;
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const layout = useLayout(drawing, props.whole ?? drawing, unfolded);
  const nameOf = useMemo(
    () => new Map(drawing.nodes.flatMap(({ step, name }) => (step === null ? [] : [[step, name] as const]))),
    [drawing],
  );
  const selectedName = selected === null ? null : (nameOf.get(selected) ?? null);
  const looking = useView(layout, selectedName);
  const { frame, view, size, zoom, fitAll, show, handlers } = looking;
  useGraphKeys({ drawing, layout, selectedName, select, show, zoom, fitAll });
  const rowOf = useMemo(() => new Map(log.rows.map((row) => [row.step, row])), [log.rows]);
  const mended = useMemo(() => new Set(recoveries.map(({ step }) => step)), [recoveries]);
  const seen = drawing.nodes.filter(({ name }) => isSeen(layout.boxes.get(name)!, view, size));
  const isFar = seen.length > MAX_NODES;
  const isNamed = showsNames(drawing.nodes.length, view.scale);
  const near = isFar ? seen.filter(({ name }) => name === selectedName) : seen;
  const toggle = (name: string): void =>
    setUnfolded((old) => {
      const next = new Set(old);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  const isLarger = layout.width * view.scale > size.width || layout.height * view.scale > size.height;
  return (
    <div ref={frame} className="gwrap" {...handlers}>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: its steps are links with names of their own */}
      <svg className="graph">
        <Markers />
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
          <Edges
            drawing={drawing}
            layout={layout}
            candidates={log.candidates}
            at={at}
            all={all}
            isNamed={isNamed && !isFar}
          />
          {isFar && <FarNodes nodes={seen} boxes={layout.boxes} />}
          {near.map((node) => (
            <GraphNode
              key={node.name}
              node={node}
              box={layout.boxes.get(node.name)!}
              row={rowOf.get(node.step ?? "")}
              at={at}
              isMended={mended.has(node.step ?? "")}
              isAsking={node.status === "waiting" && props.asking?.has(node.step ?? "") === true}
              isSelected={node.name === selectedName}
              isNamed={isNamed}
              isUnfolded={unfolded.has(node.name)}
              href={hrefOf(node.step ?? "")}
              itemHref={(scope) => itemHref(node.step ?? "", scope)}
              open={() => open(node.step ?? "")}
              fold={() => toggle(node.name)}
            />
          ))}
          {!isFar && (
            <RecoveryArcs
              recoveries={recoveries}
              drawing={drawing}
              boxes={layout.boxes}
              chosen={chosen}
              choose={choose}
            />
          )}
        </g>
      </svg>
      <GraphTools
        drawing={drawing}
        all={all}
        setAll={setAll}
        zoom={zoom}
        fitAll={fitAll}
        find={(step) => {
          select(step);
          show(nameOf.get(step)!);
        }}
      />
      {isLarger && size.width > 0 && (
        <Minimap drawing={drawing} layout={layout} view={view} size={size} move={looking.setView} />
      )}
    </div>
  );
}

/** The layout. A change of status moves nothing; only a new item may enlarge a card. */
function useLayout(drawing: Drawing, whole: Drawing, unfolded: ReadonlySet<string>) {
  const largest = new Map(whole.nodes.map((node) => [node.name, node]));
  const nodes = drawing.nodes.map((node) => ({
    name: node.name,
    ...sizeOf(largest.get(node.name) ?? node, unfolded.has(node.name)),
  }));
  const shape = JSON.stringify([nodes, drawing.edges.map(({ from, to, kind }) => [from, to, kind])]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape says all that it depends on
  return useMemo(
    () =>
      layOut({
        nodes,
        edges: drawing.edges.filter(({ kind }) => kind === "depends"),
        routes: drawing.edges
          .filter(({ kind }) => kind !== "depends")
          .map(({ from, to, kind }) => ({ from, to, below: kind.startsWith("transition") })),
      }),
    [shape],
  );
}

/** Draws thousands of steps as one shape per status. */
function FarNodes({
  nodes,
  boxes,
}: {
  readonly nodes: readonly DrawnNode[];
  readonly boxes: ReadonlyMap<string, Box>;
}): ReactNode {
  const byLook = new Map<string, string>();
  for (const node of nodes) {
    const { x, y, width, height = NODE_HEIGHT } = boxes.get(node.name)!;
    const look = node.status ?? "blocked";
    byLook.set(
      look,
      `${byLook.get(look) ?? ""}M${Math.round(x)} ${Math.round(y)}h${Math.round(width)}v${height}h${-Math.round(width)}z`,
    );
  }
  return [...byLook].map(([look, path]) => <path key={look} className={`far ${look}`} d={path} />);
}
