import type { ReactNode } from "react";
import { addressOf } from "../../place.js";

const TABS = [
  { path: "workflows", words: "Workflows" },
  { path: "schedules", words: "Schedules" },
] as const;

/** What workflows there are, and which of them start by themselves. */
export function WorkflowTabs({ current }: { readonly current: (typeof TABS)[number]["path"] }): ReactNode {
  return (
    <nav className="seg" aria-label="About workflows">
      {TABS.map(({ path, words }) => (
        <a key={path} href={addressOf([path])} aria-current={path === current ? "true" : undefined}>
          {words}
        </a>
      ))}
    </nav>
  );
}
