import { type ReactNode, useState } from "react";
import { Icon } from "./Icon.js";

interface PageHeadProps {
  /** What can be done, on a phone behind a button; null: nothing. */
  readonly controls: ReactNode;
  readonly children: ReactNode;
  /** After them. */
  readonly beside?: ReactNode;
}

/** The head of a run, or of a step. */
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
