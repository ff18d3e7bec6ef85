import type { ReactNode } from "react";
import type { DrawnNode } from "../pages/run/run-data.js";
import { type Box, NODE_HEIGHT } from "./layout.js";

/** Draws thousands of steps as one shape per status. */
export function FarNodes({
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
