import { aboutSize, counted } from "../../core/text/amount-text.js";

/** How much a pass removed. */
export interface RetentionCounts {
  readonly runs: number;
  readonly logs: number;
  readonly artifacts: number;
  readonly bytes: number;
}

/** `3 runs, the logs of 2 runs (1.2 GiB)`; null: nothing. */
export function countsText({ runs, logs, artifacts, bytes }: RetentionCounts): string | null {
  const parts = [
    ...(runs === 0 ? [] : [counted(runs, "run")]),
    ...(logs === 0 ? [] : [`the logs of ${counted(logs, "run")}`]),
    ...(artifacts === 0 ? [] : [`the artifacts of ${counted(artifacts, "run")}`]),
  ];
  return parts.length === 0 ? null : `${parts.join(", ")} (${aboutSize(bytes)})`;
}

export function countsOf(done: {
  readonly runs: readonly { readonly bytes: number }[];
  readonly logs: readonly { readonly bytes: number }[];
  readonly artifacts: readonly { readonly bytes: number }[];
}): RetentionCounts {
  const all = [...done.runs, ...done.logs, ...done.artifacts];
  return {
    runs: done.runs.length,
    logs: done.logs.length,
    artifacts: done.artifacts.length,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
