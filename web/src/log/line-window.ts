/**
 * How many lines the scroll bar covers. A browser cannot scroll over millions of lines, so a longer log is shown in
 * parts.
 */
const WINDOW_LINES = 100_000;

export interface LineWindow {
  readonly first: number;
  readonly count: number;
}

/** The part of a log around this line, which is in its middle if possible. */
export function windowAround(line: number, total: number, most = WINDOW_LINES): LineWindow {
  if (total <= most) return { first: 1, count: total };
  const first = Math.min(Math.max(1, line - Math.floor(most / 2)), total - most + 1);
  return { first, count: most };
}

/**
 * Keeps the part if it contains the line, else takes the part around it. A growing log then does not move what is being
 * read.
 */
export function keepWindow(shown: LineWindow, line: number, total: number, most = WINDOW_LINES): LineWindow {
  if (total <= most) return { first: 1, count: total };
  const isInside = line >= shown.first && line < shown.first + most;
  return isInside
    ? { first: shown.first, count: Math.min(most, total - shown.first + 1) }
    : windowAround(line, total, most);
}

/** Parses `stderr:120` from an address. */
export function linePlace(
  text: string | null,
): { readonly stream: LogStreamName; readonly line: number } | null {
  const [, stream, line] = /^(stdout|stderr):(\d{1,12})$/.exec(text ?? "") ?? [];
  return stream === undefined ? null : { stream: stream as LogStreamName, line: Math.max(1, Number(line)) };
}

export type LogStreamName = "stdout" | "stderr";
