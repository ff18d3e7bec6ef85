import { useSyncExternalStore } from "react";
import { type Place, placeOf } from "./place.js";

export function usePlace(): Place {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return placeOf(hash);
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}
