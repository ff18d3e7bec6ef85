import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import { type RefObject, useLayoutEffect, useReducer, useState } from "react";

const LINE_PX = 18;
/** Lines that are rendered above and below the visible ones. The DOM never has more than 1,000. */
const OVERSCAN = 20;

export type VirtualLines = Virtualizer<HTMLElement, HTMLDivElement>;

/** Determines which lines are visible, since only these are rendered. */
export function useVirtualLines(scroller: RefObject<HTMLElement | null>, count: number): VirtualLines {
  const [, rerender] = useReducer((times: number) => times + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    onChange: () => rerender(),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLElement, HTMLDivElement>(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}
