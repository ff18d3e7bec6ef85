/** A browser cannot scroll over millions of lines: of a longer log a part lies under the scroll bar at a time. */
const WINDOW_LINES = 100_000;

export interface LineWindow {
  readonly first: number;
  readonly count: number;
}

/** The part of a log in which this line lies; as far as it can, in its middle. */
export function windowAround(line: number, total: number, most = WINDOW_LINES): LineWindow {
  if (total <= most) return { first: 1, count: total };
  const first = Math.min(Math.max(1, line - Math.floor(most / 2)), total - most + 1);
  return { first, count: most };
}

/** The same part while it still has the line; else the one around it. A log that grows does not move what is read. */
export function keepWindow(shown: LineWindow, line: number, total: number, most = WINDOW_LINES): LineWindow {
  if (total <= most) return { first: 1, count: total };
  const isInside = line >= shown.first && line < shown.first + most;
  return isInside
    ? { first: shown.first, count: Math.min(most, total - shown.first + 1) }
    : windowAround(line, total, most);
}

/** `stderr:120` of an address. */
export function linePlace(
  text: string | null,
): { readonly stream: LogStreamName; readonly line: number } | null {
  const [, stream, line] = /^(stdout|stderr):(\d{1,12})$/.exec(text ?? "") ?? [];
  return stream === undefined ? null : { stream: stream as LogStreamName, line: Math.max(1, Number(line)) };
}

export type LogStreamName = "stdout" | "stderr";
