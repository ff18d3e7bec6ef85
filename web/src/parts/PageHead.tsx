import { type ReactNode, useRef, useState } from "react";
import { addressOf } from "../place.js";
import { Icon } from "./Icon.js";
import { useCut } from "./use-size.js";

interface PageHeadProps {
  /** The controls, which on a phone are behind a button; null for none. */
  readonly controls: ReactNode;
  readonly children: ReactNode;
  /** Shown after the controls. */
  readonly beside?: ReactNode;
}

/** The head of a run's or a step's page. */
export function PageHead({ controls, children, beside }: PageHeadProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <header className={isOpen ? "runhead open" : "runhead"}>
      {children}
      {controls !== null && (
        <>
          <button
            type="button"
            className="btn icon only-s"
            aria-label="Controls"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="more" />
          </button>
          {controls}
        </>
      )}
      {beside}
    </header>
  );
}

interface HeadLinesProps {
  readonly label: string;
  readonly headline: ReactNode;
  readonly meta: ReactNode;
}

/**
 * Two lines that name a run or a step and describe its status. What does not fit is in the tooltip, and wraps on focus.
 */
export function HeadLines({ label, headline, meta }: HeadLinesProps): ReactNode {
  const element = useRef<HTMLElement>(null);
  const whole = useCut(element);
  return (
    <section
      ref={element}
      className="grow headlines"
      aria-label={label}
      title={whole ?? undefined}
      tabIndex={whole === null ? undefined : 0}
    >
      <div className="row headline">{headline}</div>
      <div className="meta num">{meta}</div>
    </section>
  );
}

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
