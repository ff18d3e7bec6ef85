import { type ReactNode, useRef } from "react";
import { useCut } from "./use-size.js";

interface CutProps {
  /** Limit of one or two lines. */
  readonly lines?: 1 | 2;
  readonly className?: string;
  /** The tooltip's own text. By default the full text if it is cut. */
  readonly title?: string;
  readonly children: ReactNode;
}

/** Text that may not fit. If it is cut, a tooltip and the focus show all of it. Copying gives the full text. */
export function Cut({ lines = 1, className = "", title, children }: CutProps): ReactNode {
  const element = useRef<HTMLSpanElement>(null);
  const whole = useCut(element);
  return (
    <span
      ref={element}
      className={`${lines === 1 ? "cut" : "clamp"} ${className}`}
      title={title ?? whole ?? undefined}
      tabIndex={whole === null ? undefined : 0}
    >
      {children}
    </span>
  );
}
