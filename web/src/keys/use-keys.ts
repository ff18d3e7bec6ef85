import { useEffect, useRef } from "react";
import { keep, kept } from "../kept.js";
import { type Focused, type Key, KeyRegistry } from "./registry.js";

/**
 * The keys of the page. A page says which it has, and they are gone when it is:
 *
 *     useKeys("Step", [
 *       { keys: "n", does: "next error", run: () => goTo(next) },
 *       { keys: "shift+1", does: "compare with attempt 1", run: () => compare(1) },
 *       { keys: "g e", does: "editor", run: openEditor },          // one after the other
 *       { keys: "j|down", does: "next", run: next },               // either
 *       { keys: "mod+enter", does: "send", run: send, inFields: true },
 *     ]);
 *
 * A dialog says `{ modal: true }`: no key reaches the page below it. A single key never sends a command: it chooses, a
 * button or `mod+enter` sends. Keys that print something are off while a field has the focus, and where people switched
 * them off. The overlay (`?`) lists all of them by the title.
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

/** Once, when the page begins. */
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
