import type { ResourceMonitor } from "../../core/model/definition.js";
import { childPath } from "../read/path.js";
import { type Fields, listOf, named, object, type Schema, type Written } from "../read/schema.js";
import { boolean, durationInSeconds, oneOf, text } from "../read/schema-scalars.js";
import { findEntry } from "../read/source-tree.js";

/** More often, looking would cost more than many a job. */
const MIN_INTERVAL_SECONDS = 0.1;
const DEFAULT_INTERVAL_MS = 10_000;

const SCOPE_FIELDS = {
  enabled: { schema: boolean(), doc: "false: no samples.", default: true },
  granularity: {
    schema: oneOf(["summary", "time_series"]),
    doc: "`summary`: peak memory, CPU time, disk I/O and time of every attempt, which are always recorded. `time_series`: samples over time as well.",
    default: "summary",
  },
} as const satisfies Fields;

const monitorMap = object({
  ...SCOPE_FIELDS,
  sample_interval_seconds: {
    schema: durationInSeconds({ min: MIN_INTERVAL_SECONDS }),
    doc: "Time between two samples; it doubles after every 1,000 samples of an attempt.",
    default: DEFAULT_INTERVAL_MS,
  },
  jobs: { schema: object(SCOPE_FIELDS), doc: "Another place for `enabled` and `granularity`; it wins." },
  generate_plots: {
    schema: boolean(),
    doc: "Has no effect: `daruma resources RUN --html FILE` makes the plots.",
  },
  metrics: {
    schema: listOf(text(), { items: "names" }),
    doc: "Has no effect, as in Torc: memory and processor time are always sampled.",
  },
  compute_node: { schema: object(SCOPE_FIELDS), doc: "Has no effect: machines are not sampled." },
});

const NO_EFFECT = {
  generate_plots: {
    message: "`generate_plots` has no effect: plots are made when they are asked for",
    hint: "Use `daruma resources RUN --html FILE`.",
  },
  metrics: {
    message: "`metrics` has no effect: memory and processor time are always sampled",
    hint: "Remove it.",
  },
  compute_node: {
    message: "`compute_node` has no effect: attempts are sampled, machines are not",
    hint: "Remove it, or watch the machines with the tools of the cluster.",
  },
} as const;

/** How the processes of attempts are watched; null: as always, without samples. */
export const resourceMonitor: Schema<ResourceMonitor | null, Written<typeof monitorMap>> = named(
  "resource_monitor",
  {
    ...monitorMap,
    read(node, path, context) {
      const given = monitorMap.read(node, path, context);
      if (given === undefined || node.kind !== "map") return undefined;
      for (const key of ["generate_plots", "metrics", "compute_node"] as const) {
        const entry = findEntry(node, key);
        const isAsked = key === "generate_plots" ? given[key] === true : given[key] !== undefined;
        if (entry === undefined || !isAsked) continue;
        const at = { at: entry.keyAt, path: childPath(path, key) };
        context.findings.warn({ code: "NO_EFFECT", ...NO_EFFECT[key], ...at });
      }
      const { enabled = true, granularity = "summary" } = { ...given, ...withoutMissing(given.jobs) };
      if (!enabled || granularity === "summary") return null;
      return { sampleIntervalMs: given.sample_interval_seconds ?? DEFAULT_INTERVAL_MS };
    },
  },
);

function withoutMissing<T extends object>(given: T | undefined): Partial<T> {
  return Object.fromEntries(
    Object.entries(given ?? {}).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}
