import type { ReactNode } from "react";
import { addressOf } from "../place.js";

/** Pages that share one entry of the rail. */
const GROUPS = {
  workflows: [
    { path: "workflows", words: "Workflows" },
    { path: "schedules", words: "Schedules" },
  ],
  workers: [
    { path: "workers", words: "Workers" },
    { path: "notifications", words: "Notifications" },
    { path: "settings", words: "Settings" },
  ],
} as const;

interface PageTabsProps {
  readonly of: keyof typeof GROUPS;
  readonly current: (typeof GROUPS)[keyof typeof GROUPS][number]["path"];
}

export function PageTabs({ of, current }: PageTabsProps): ReactNode {
  return (
    <nav className="seg" aria-label={`Beside ${of}`}>
      {GROUPS[of].map(({ path, words }) => (
        <a key={path} href={addressOf([path])} aria-current={path === current ? "true" : undefined}>
          {words}
        </a>
      ))}
    </nav>
  );
}
