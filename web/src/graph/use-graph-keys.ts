import { useKeys } from "../keys/use-keys.js";
import type { Drawing } from "../pages/run/run-data.js";
import type { Layout } from "./layout.js";
import { neighbour } from "./view.js";

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
export function useGraphKeys({ drawing, layout, selectedName, select, show, zoom, fitAll }: GraphKeys): void {
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
