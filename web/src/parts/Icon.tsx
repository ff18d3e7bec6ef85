import type { ReactNode } from "react";

const PATHS = {
  inbox:
    "M2 9.5 3.6 3.8A1.2 1.2 0 0 1 4.8 3h6.4a1.2 1.2 0 0 1 1.2.8L14 9.5v2.7a.8.8 0 0 1-.8.8H2.8a.8.8 0 0 1-.8-.8zM2 9.5h3.2l.9 1.6h3.8l.9-1.6H14",
  runs: "M6 4h8M6 8h8M6 12h8M3 4h.01M3 8h.01M3 12h.01",
  workflows: "M2 2.5h5v3.6H2zM9 9.9h5v3.6H9zM4.5 6.1v3.4a2 2 0 0 0 2 2H9",
  statistics: "M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6",
  workers: "M2 2.5h12v4.4H2zM2 9.1h12v4.4H2zM4.6 4.7h.01M4.6 11.3h.01",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11zM8 2.5v11",
  key: "M5.2 8.1a2.7 2.7 0 1 0 .01 0zM7.2 8.8l6-6M10.5 5.5l2 2",
  keys: "M8 2a6 6 0 1 0 .01 0zM6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.5.2-.8.6-.8 1.1M8 11.3h.01",
  find: "M7 2.8a4.2 4.2 0 1 0 .01 0zM10.2 10.2l3.3 3.3",
  retry: "M13 8a5 5 0 1 1-1.5-3.5M12.8 2.2v2.6h-2.6",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  resume: "M5 3.5v9l7-4.5z",
  cancel: "M3.5 3.5h9v9h-9z",
  takeover:
    "M5 8V4.2a1 1 0 0 1 2 0V7m0-3.8a1 1 0 0 1 2 0V7m0-2.6a1 1 0 0 1 2 0V10a4 4 0 0 1-4 4c-2 0-3-1-4-3L2.6 9.2a.9.9 0 0 1 1.5-1L5 9.6",
  back: "M6 3 2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 4 4V13",
  reset: "M3 8a5 5 0 1 1 1.5 3.5M3.2 13.8v-2.6h2.6M8 5.5V8l1.8 1.2",
  previous: "m9.5 4-4 4 4 4",
  next: "m6.5 4 4 4-4 4",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  check: "m3 8.5 3.3 3.3L13 5",
  skip: "M3.5 3.5v9l6-4.5zM12.5 3.5v9",
  cross: "M4 4l8 8M12 4l-8 8",
  clock: "M8 2.2a5.8 5.8 0 1 0 .01 0zM8 5v3.2l2.2 1.4",
  fork: "M5 5.5v5M5 8h4a2 2 0 0 0 2-2v-.5M5 2.7a1.4 1.4 0 1 0 .01 0zM5 10.5a1.4 1.4 0 1 0 .01 0zM11 2.7a1.4 1.4 0 1 0 .01 0z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({
  name,
  small = false,
}: {
  readonly name: IconName;
  readonly small?: boolean;
}): ReactNode {
  return (
    <svg className={small ? "i s" : "i"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
