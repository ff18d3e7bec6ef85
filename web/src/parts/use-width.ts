import { type RefObject, useLayoutEffect, useState } from "react";

/** The width of an element; `guess` until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>, guess: number): number {
  const [width, setWidth] = useState(guess);
  useLayoutEffect(() => {
    if (element.current === null) return;
    const watch = new ResizeObserver(([seen]) => setWidth(Math.max(1, seen!.contentRect.width)));
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [element]);
  return width;
}
