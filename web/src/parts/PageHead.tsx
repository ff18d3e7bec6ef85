import { type ReactNode, useState } from "react";
import { Icon } from "./Icon.js";

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
