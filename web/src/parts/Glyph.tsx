import type { ReactNode } from "react";
import type { JobStatus } from "../words/status.js";

/** `recovered`: completed after a rung has acted. `asking`: waits for a person's answer. */
export type Shape = JobStatus | "handled" | "recovered" | "asking";

const CLOCK = (
  <>
    <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.5" />
    <path d="M8 4.8V8l2.2 1.6" stroke="currentColor" strokeWidth="1.5" fill="none" strokeLinecap="round" />
  </>
);
const CHECK = (
  <>
    <circle cx="8" cy="8" r="7" fill="currentColor" />
    <path d="m4.8 8.3 2.2 2.2 4.2-4.6" className="cut-out" />
  </>
);

const SHAPES: { readonly [shape in Shape]: ReactNode } = {
  blocked: (
    <circle
      cx="8"
      cy="8"
      r="6.2"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeDasharray="2.5 2"
    />
  ),
  ready: <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  running: (
    <>
      <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M6.5 5.2v5.6l4.4-2.8z" fill="currentColor" />
    </>
  ),
  waiting: CLOCK,
  asking: CLOCK,
  recovering: (
    <>
      <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path
        d="M5.2 9.8a3 3 0 0 0 5.6 0M5.2 6.2a3 3 0 0 1 5.6 0"
        stroke="currentColor"
        strokeWidth="1.5"
        fill="none"
      />
    </>
  ),
  completed: CHECK,
  recovered: (
    <>
      {CHECK}
      <path d="M1.5 11.5l2.5 1.5 2-1.5 2.5 2 2.3-1.8" className="seam" />
    </>
  ),
  failed: (
    <>
      <rect x="1.5" y="1.5" width="13" height="13" rx="2.5" fill="currentColor" />
      <path d="m5.5 5.5 5 5m0-5-5 5" className="cut-out" />
    </>
  ),
  handled: (
    <>
      <rect
        x="1.8"
        y="1.8"
        width="12.4"
        height="12.4"
        rx="2.5"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeDasharray="2.5 2"
      />
      <path d="m5.5 5.5 5 5m0-5-5 5" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
    </>
  ),
  held: (
    <>
      <path d="M8 .9 15.1 8 8 15.1.9 8z" fill="currentColor" />
      <path d="M6.6 5.8v4.4M9.4 5.8v4.4" className="cut-out" />
    </>
  ),
  skipped: (
    <>
      <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M5 8h6" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
    </>
  ),
  canceled: (
    <>
      <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="m3.8 12.2 8.4-8.4" stroke="currentColor" strokeWidth="1.5" />
    </>
  ),
};

const CLASS: { readonly [shape in Shape]: string } = {
  blocked: "g-blocked",
  ready: "g-ready",
  running: "g-running",
  waiting: "g-waiting",
  recovering: "g-recovering",
  asking: "g-asking",
  completed: "g-completed",
  recovered: "g-recovered",
  failed: "g-failed",
  handled: "g-handled",
  held: "g-held",
  skipped: "g-skipped",
  canceled: "g-canceled",
};

/** The status of a step. Its shape says the same as its colour. */
export function Glyph({ status }: { readonly status: Shape }): ReactNode {
  return (
    <svg className={`g ${CLASS[status]}`} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[status]}
    </svg>
  );
}
