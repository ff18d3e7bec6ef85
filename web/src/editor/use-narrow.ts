import { useSyncExternalStore } from "react";

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
