import { useSyncExternalStore } from "react";

const NARROW = matchMedia("(max-width: 719px)");

/** On a phone workflows are only read. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      NARROW.addEventListener("change", listener);
      return () => NARROW.removeEventListener("change", listener);
    },
    () => NARROW.matches,
  );
}
