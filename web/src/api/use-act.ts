import { useState } from "react";
import { Problem } from "./client.js";

/** Executes an action, then reloads the data that is shown. */
export type Act = (what: Promise<unknown>) => Promise<void>;

/** A refusal stays visible until the next action. */
export function useAct(reload: () => void): { readonly act: Act; readonly refused: Problem | null } {
  const [refused, setRefused] = useState<Problem | null>(null);
  const act: Act = async (what) => {
    setRefused(null);
    try {
      await what;
    } catch (error) {
      setRefused(error instanceof Problem ? error : new Problem({ status: 0, title: String(error) }));
    }
    reload();
  };
  return { act, refused };
}
