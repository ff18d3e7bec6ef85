import { useKeys } from "../../keys/use-keys.js";
import type { Attempt } from "./Attempts.js";

interface StepKeys {
  readonly attempts: readonly Attempt[];
  readonly chosen: number | null;
  readonly hrefWith: (changes: { readonly [name: string]: string | null }) => string;
}

const MOST = 9;

/** Keys that select attempts by number, or the next and previous one. */
export function useStepKeys({ attempts, chosen, hrefWith }: StepKeys): void {
  const go = (changes: { readonly [name: string]: string | null }): void => {
    location.hash = hrefWith(changes);
  };
  const move = (by: 1 | -1): void => {
    const place = attempts.findIndex(({ attempt }) => attempt === chosen) + by;
    const next = attempts[place];
    if (next !== undefined) go({ attempt: String(next.attempt), with: null });
  };
  const numbered = attempts.filter(({ attempt }) => attempt <= MOST);
  useKeys("Step", [
    ...numbered.map(({ attempt }) => ({
      keys: String(attempt),
      does: `attempt ${attempt}`,
      run: () => go({ attempt: String(attempt), with: null }),
    })),
    ...numbered.map(({ attempt }) => ({
      keys: `shift+${attempt}`,
      does: `compare with attempt ${attempt}`,
      run: () => attempt !== chosen && go({ tab: "compare", with: String(attempt) }),
    })),
    { keys: "left", does: "attempt before", run: () => move(-1) },
    { keys: "right", does: "attempt after", run: () => move(1) },
    { keys: "l", does: "log", run: () => go({ tab: null }) },
  ]);
}
