/** One number for a chart. Labels have few possible values, so never a step, workflow or run. */
export interface Measurement {
  readonly name: SeriesName;
  readonly value: number;
  readonly labels: { readonly [label: string]: string };
}

interface Series {
  readonly kind: "counter" | "seconds";
  readonly help: string;
  readonly labels: readonly string[];
}

/** All series by their StatsD names. Prometheus has underscores in place of the dots. */
export const SERIES = {
  "task.self_heal.attempts_total": {
    kind: "counter",
    help: "Attempts that followed a failure of the same visit or an operator's hard reset, by what began them and how they ended.",
    labels: ["class", "strategy", "outcome"],
  },
  "task.self_heal.recovered_total": {
    kind: "counter",
    help: "Steps that completed after at least one failed attempt.",
    labels: [],
  },
  "task.self_heal.exhausted_total": {
    kind: "counter",
    help: "Steps that were tried again and failed or were held all the same.",
    labels: [],
  },
  "task.step.duration_seconds": {
    kind: "seconds",
    help: "How long attempts took.",
    labels: ["outcome"],
  },
  "task.step.idle_timeout_total": {
    kind: "counter",
    help: "Attempts that were ended because they had gone silent.",
    labels: [],
  },
  "task.step.wall_timeout_total": {
    kind: "counter",
    help: "Attempts that were ended because their time was over.",
    labels: [],
  },
  "task.step.no_progress_total": {
    kind: "counter",
    help: "Failures that repeated themselves without any change.",
    labels: [],
  },
  "daruma.attempts_total": {
    kind: "counter",
    help: "Attempts that ended, by outcome and, where they failed, class.",
    labels: ["outcome", "class"],
  },
  "daruma.rungs_total": {
    kind: "counter",
    help: "Failures by the rung of the ladder that took them.",
    labels: ["rung"],
  },
  "daruma.runs_total": {
    kind: "counter",
    help: "Runs that ended, by status.",
    labels: ["status"],
  },
  "daruma.runs_started_total": { kind: "counter", help: "Runs that began.", labels: [] },
  "daruma.holds_total": { kind: "counter", help: "Jobs that were held for somebody to decide.", labels: [] },
  "daruma.dead_letters_total": {
    kind: "counter",
    help: "Jobs that the queue has given up.",
    labels: [],
  },
} as const satisfies { readonly [name: string]: Series };

export type SeriesName = keyof typeof SERIES;
