import { useEffect, useState } from "react";
import { guardPlace } from "../use-place.js";

/** Asks for confirmation before leaving unsaved changes. */
export function useLeaving(isDirty: boolean) {
  const [wanted, setWanted] = useState<string | null>(null);
  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", warn);
    const release = guardPlace((address) => {
      setWanted(address);
      return false;
    });
    return () => {
      removeEventListener("beforeunload", warn);
      release();
    };
  }, [isDirty]);
  return {
    wanted,
    stay: () => setWanted(null),
    leave: () => {
      guardPlace(() => true)();
      location.hash = wanted ?? "";
    },
  };
}
