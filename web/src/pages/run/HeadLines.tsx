import { type ReactNode, useRef } from "react";
import { useCut } from "../../parts/use-cut.js";

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
