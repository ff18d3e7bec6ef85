import { type ReactNode, useRef } from "react";
import { useCut } from "./use-cut.js";

interface CutProps {
  /** One line, or two of them. */
  readonly lines?: 1 | 2;
  readonly className?: string;
  /** What the tooltip has beside the text; missing: the text where it is cut. */
  readonly title?: string;
  readonly children: ReactNode;
}

/** A text that may have no room. Where it is cut, a tooltip has all of it, and so has the focus; it copies whole. */
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
