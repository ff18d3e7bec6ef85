import { useSyncExternalStore } from "react";
import { type Place, placeOf } from "./place.js";

/** Called before the address changes. Returns false to stay. */
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

/** Sets the only guard. Returns a function that removes it. */
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
