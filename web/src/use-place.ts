import { useSyncExternalStore } from "react";
import { type Place, placeOf } from "./place.js";

/** Asked before another address is shown; false: the one that is shown stays. */
type Guard = (address: string) => boolean;

let shown = location.hash;
let guard: Guard | null = null;
const listeners = new Set<() => void>();

addEventListener("hashchange", () => {
  if (guard !== null && !guard(location.hash)) {
    history.pushState(null, "", shown === "" ? "#/" : shown);
    return;
  }
  shown = location.hash;
  for (const listener of listeners) listener();
});

export function usePlace(): Place {
  const hash = useSyncExternalStore(subscribe, () => shown);
  return placeOf(hash);
}

/** One at a time. Answers with what takes it away. */
export function guardPlace(asked: Guard): () => void {
  guard = asked;
  return () => {
    if (guard === asked) guard = null;
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
