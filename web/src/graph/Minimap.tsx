import type { PointerEvent, ReactNode } from "react";
import type { Drawing } from "../pages/run/run-data.js";
import { type Layout, NODE_HEIGHT } from "./layout.js";
import type { Size, View } from "./view.js";

const WIDTH = 160;
const MAX_HEIGHT = 110;

interface MinimapProps {
  readonly drawing: Drawing;
  readonly layout: Layout;
  readonly view: View;
  readonly size: Size;
  readonly move: (view: View) => void;
}

/** Shows where failures and holds are in a graph that is larger than its window. */
export function Minimap({ drawing, layout, view, size, move }: MinimapProps): ReactNode {
  const scale = Math.min(WIDTH / layout.width, MAX_HEIGHT / layout.height);
  const [width, height] = [layout.width * scale, layout.height * scale];
  let [failed, held] = ["", ""];
  for (const { name, status } of drawing.nodes) {
    if (status !== "failed" && status !== "held") continue;
    const { x, y, width: wide } = layout.boxes.get(name)!;
    const box = `M${x * scale} ${y * scale}h${Math.max(2.5, wide * scale)}v${Math.max(2.5, NODE_HEIGHT * scale)}h${-Math.max(2.5, wide * scale)}z`;
    if (status === "failed") failed += box;
    else held += box;
  }
  const grab = (event: PointerEvent<SVGSVGElement>): void => {
    if (event.buttons === 0) return;
    event.stopPropagation();
    const frame = event.currentTarget.getBoundingClientRect();
    const at = { x: (event.clientX - frame.left) / scale, y: (event.clientY - frame.top) / scale };
    move({ ...view, x: size.width / 2 - at.x * view.scale, y: size.height / 2 - at.y * view.scale });
  };
  return (
    <svg
      className="minimap hide-s"
      width={width}
      height={height}
      role="img"
      aria-label="Overview: failures and holds"
      onPointerDown={grab}
      onPointerMove={grab}
    >
      <rect className="all" width={width} height={height} />
      <path className="bad" d={failed} />
      <path className="held" d={held} />
      <rect
        className="frame"
        x={(-view.x / view.scale) * scale}
        y={(-view.y / view.scale) * scale}
        width={(size.width / view.scale) * scale}
        height={(size.height / view.scale) * scale}
      />
    </svg>
  );
}
