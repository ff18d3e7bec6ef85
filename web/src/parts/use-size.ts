import { type RefObject, useLayoutEffect, useState, useSyncExternalStore } from "react";

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

/**
 * The full text of an element that is too small for it; null if all of it is visible. It does not change while the
 * element has the focus.
 */
export function useCut(element: RefObject<HTMLElement | null>): string | null {
  const [whole, setWhole] = useState<string | null>(null);
  // Checked after every change of the text, and whenever the width changes.
  useLayoutEffect(() => {
    const box = element.current;
    if (box === null) return;
    const look = (): void => {
      if (document.activeElement === box) return;
      setWhole([box, ...box.querySelectorAll("*")].some(isCut) ? textOf(box) : null);
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(box);
    return () => watch.disconnect();
  });
  return whole;
}

function isCut({ scrollWidth, clientWidth, scrollHeight, clientHeight, namespaceURI }: Element): boolean {
  if (namespaceURI?.endsWith("svg") === true || clientWidth === 0) return false;
  return scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 3;
}

/** The text of an element, with a space between the texts of two elements. */
function textOf(box: Element): string {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  let [whole, last] = ["", null as Element | null];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const { parentElement, textContent } = node;
    if (parentElement?.closest("svg") !== null) continue;
    whole += `${last === parentElement ? "" : " "}${textContent ?? ""}`;
    last = parentElement;
  }
  return whole.replace(/\s+/g, " ").trim();
}

const NARROW = matchMedia("(max-width: 719px)");

/** Whether the window is narrow. On a phone, workflows are read-only. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener("change", listener);
      return () => NARROW.removeEventListener("change", listener);
    },
    () => NARROW.matches,
  );
}
