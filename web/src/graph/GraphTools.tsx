import { type PointerEvent, type ReactNode, useId, useRef, useState } from "react";
import { Keys } from "../keys/KeysOverlay.js";
import { useKeys } from "../keys/use-keys.js";
import type { Drawing } from "../pages/run/run-data.js";
import { Icon } from "../parts/Icon.js";
import { type Layout, NODE_HEIGHT } from "./layout.js";
import type { Size, View } from "./view.js";

const ZOOM = 1.25;
const MAX_FOUND = 50;

interface ToolsProps {
  readonly drawing: Drawing;
  readonly all: boolean;
  readonly setAll: (all: boolean) => void;
  readonly zoom: (factor: number) => void;
  readonly fitAll: () => void;
  readonly find: (step: string) => void;
}

export function GraphTools({ drawing, all, setAll, zoom, fitAll, find }: ToolsProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [hasLegend, setLegend] = useState(false);
  const list = useId();
  useKeys("Find", [{ keys: "f", does: "find a step", run: () => input.current?.focus() }]);
  const steps = drawing.nodes.flatMap(({ step }) => (step === null ? [] : [step]));
  const found = text === "" ? [] : steps.filter((step) => step.includes(text)).slice(0, MAX_FOUND);
  const go = (step: string | undefined): void => {
    if (step === undefined) return;
    find(step);
    setText("");
    input.current?.blur();
  };
  return (
    <>
      <div className="gtools hide-s">
        <div className="seg">
          <button type="button" aria-pressed={!all} onClick={() => setAll(false)}>
            Path taken
          </button>
          <button type="button" aria-pressed={all} onClick={() => setAll(true)}>
            All edges
          </button>
        </div>
        <form
          className="findform"
          onSubmit={(event) => {
            event.preventDefault();
            go(found.find((step) => step === text) ?? found[0]);
          }}
        >
          <input
            ref={input}
            className="input findstep"
            type="search"
            placeholder="Find step"
            aria-label="Find step"
            list={list}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Icon name="find" small />
          <Keys keys="f" />
          <datalist id={list}>
            {found.map((step) => (
              <option key={step} value={step} />
            ))}
          </datalist>
        </form>
        <button
          type="button"
          className="btn keys-of-graph"
          aria-expanded={hasLegend}
          onClick={() => setLegend(!hasLegend)}
        >
          Key
        </button>
      </div>
      <div className={hasLegend ? "legend open" : "legend"} aria-hidden="true">
        <span>
          <svg width="26" height="8" aria-hidden="true">
            <path className="e took" d="M0 4h26" />
          </svg>
          depends on, taken
        </span>
        <span>
          <svg width="26" height="8" aria-hidden="true">
            <path className="e fail" d="M0 4h26" />
          </svg>
          failure edge
        </span>
        <span>
          <svg width="26" height="10" aria-hidden="true">
            <path className="e back" d="M1 9C6-1 20-1 25 9" />
          </svg>
          retry, repair, goto
        </span>
        <span>
          <span className="n">3</span>
          recovery, in order
        </span>
      </div>
      <div className="zoom">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(ZOOM)}>
          <Icon name="plus" small />
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / ZOOM)}>
          <Icon name="minus" small />
        </button>
        <button type="button" aria-label="Fit" onClick={fitAll}>
          <Icon name="fit" small />
        </button>
      </div>
    </>
  );
}

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
