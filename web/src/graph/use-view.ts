import {
  type PointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { Layout } from "./layout.js";
import { centre, fitted, type Size, type View, zoomAt } from "./view.js";

const ZOOM = 1.25;
/** Below this scale a graph is only an overview, so a phone starts at a single step instead. */
const LEAST_OPENING_SCALE = 0.5;
const PHONE_WIDTH = 720;

export interface Looking {
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly size: Size;
  readonly view: View;
  readonly setView: (view: View) => void;
  readonly zoom: (factor: number) => void;
  readonly fitAll: () => void;
  readonly show: (name: string) => void;
  readonly handlers: {
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerUp: (event: PointerEvent) => void;
    readonly onPointerCancel: (event: PointerEvent) => void;
  };
}

/** Zoom, pan and pinch for a layout. It opens fitted to the window, or on a phone at the selected step. */
export function useView(layout: Layout, selected: string | null): Looking {
  const frame = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const touched = useRef(false);
  const fingers = useRef(new Map<number, { readonly x: number; readonly y: number }>());
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const look = (): void => setSize({ width: element.clientWidth, height: element.clientHeight });
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once somebody has moved it, it stays where it is
  useLayoutEffect(() => {
    if (size.width === 0 || touched.current) return;
    const all = fitted(layout, size);
    const box = selected === null ? undefined : layout.boxes.get(selected);
    const isPhone = size.width < PHONE_WIDTH && all.scale < LEAST_OPENING_SCALE;
    setView(isPhone && box !== undefined ? centre(box, size, 1) : all);
  }, [layout, size]);
  const change = useCallback((next: View | ((old: View) => View)): void => {
    touched.current = true;
    setView(next);
  }, []);
  const zoom = useCallback(
    (factor: number) => change((old) => zoomAt(old, factor, { x: size.width / 2, y: size.height / 2 })),
    [change, size],
  );
  // React's wheel listeners are passive, which would let the page zoom with the graph.
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const at = element.getBoundingClientRect();
      const point = { x: event.clientX - at.left, y: event.clientY - at.top };
      if (event.ctrlKey || event.metaKey)
        change((old) => zoomAt(old, event.deltaY < 0 ? ZOOM : 1 / ZOOM, point));
      else change((old) => ({ ...old, x: old.x - event.deltaX, y: old.y - event.deltaY }));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [change]);
  const move = (event: PointerEvent): void => {
    const before = fingers.current.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.clientX, y: event.clientY };
    fingers.current.set(event.pointerId, now);
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      if (before.x !== now.x || before.y !== now.y)
        change((old) => ({ ...old, x: old.x + now.x - before.x, y: old.y + now.y - before.y }));
      return;
    }
    const far = (point: { readonly x: number; readonly y: number }) =>
      Math.hypot(point.x - other.x, point.y - other.y);
    const at = frame.current!.getBoundingClientRect();
    const point = { x: (now.x + other.x) / 2 - at.left, y: (now.y + other.y) / 2 - at.top };
    if (far(before) > 0) change((old) => zoomAt(old, far(now) / far(before), point));
  };
  const letGo = (event: PointerEvent): void => void fingers.current.delete(event.pointerId);
  const show = useCallback(
    (name: string) => {
      const box = layout.boxes.get(name);
      if (box !== undefined) change((old) => centre(box, size, Math.max(old.scale, 1)));
    },
    [change, layout, size],
  );
  return {
    frame,
    size,
    view,
    setView: change,
    zoom,
    show,
    fitAll: () => change(fitted(layout, size)),
    handlers: {
      onPointerDown: ({ pointerId, clientX, clientY }) => {
        fingers.current.set(pointerId, { x: clientX, y: clientY });
      },
      onPointerMove: (event) => (event.buttons === 0 ? letGo(event) : move(event)),
      onPointerUp: letGo,
      onPointerCancel: letGo,
    },
  };
}
