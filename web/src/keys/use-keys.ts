import { useEffect, useRef } from "react";
import { keep, kept } from "../kept.js";
import { type Focused, type Key, KeyRegistry } from "./registry.js";

/**
 * The keys of the page. Each page registers its own, which are removed when it is left:
 *
 *     useKeys("Step", [
 *       { keys: "n", does: "next error", run: () => goTo(next) },
 *       { keys: "shift+1", does: "compare with attempt 1", run: () => compare(1) },
 *       { keys: "g e", does: "editor", run: openEditor },          // one after the other
 *       { keys: "j|down", does: "next", run: next },               // either
 *       { keys: "mod+enter", does: "send", run: send, inFields: true },
 *     ]);
 *
 * A dialog passes `{ modal: true }`, so that no key reaches the page below it. A single key only selects; commands are
 * sent by a button or `mod+enter`. Keys that print something are off while a field has the focus, and if the user has
 * switched them off. The overlay (`?`) lists all keys by title.
 */
export const registry = new KeyRegistry();

export function useKeys(
  title: string,
  keys: readonly Key[],
  { modal = false }: { readonly modal?: boolean } = {},
): void {
  const layer = useRef<ReturnType<KeyRegistry["add"]> | null>(null);
  const newest = { title, keys, modal };
  const first = useRef(newest);
  first.current = newest;
  const listed = keys.map((key) => `${key.keys} ${key.does}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: other keys are another layer, so that the overlay is told
  useEffect(() => {
    const added = registry.add(first.current);
    layer.current = added;
    return () => added.remove();
  }, [title, modal, listed]);
  useEffect(() => layer.current?.change(newest));
}

const SWITCH = "daruma-single-keys";

/** Starts listening. Call it once, when the page starts. */
export function listenToKeys(): void {
  registry.switchSingleKeys(kept(SWITCH) !== "off");
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (registry.press(event, focusedOf(event.composedPath()[0] ?? null), Date.now())) event.preventDefault();
  });
}

export function switchSingleKeys(on: boolean): void {
  keep(SWITCH, on ? "on" : "off");
  registry.switchSingleKeys(on);
}

const PRESSED = "button, summary, input[type=checkbox], input[type=radio], [role=button], [role=radio]";
const TYPED_INTO = "input:not([type=checkbox]):not([type=radio]):not([type=button]), textarea, select";

function focusedOf(target: EventTarget | null): Focused {
  if (!(target instanceof HTMLElement)) return { isField: false, isButton: false, isLink: false };
  return {
    isField: target.isContentEditable || target.matches(TYPED_INTO),
    isButton: target.matches(PRESSED),
    isLink: target.matches("a[href]"),
  };
}
