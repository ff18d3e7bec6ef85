import type { ResourceMonitor } from "../../core/model/definition.js";
import { childPath } from "../read/path.js";
import { type Fields, named, object, type Schema, type Written } from "../read/schema.js";
import { boolean, durationInSeconds, oneOf } from "../read/schema-scalars.js";
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

const UNREAD = new Map([
  ["metrics", "memory and processor time are always sampled"],
  ["compute_node", "attempts are sampled, machines are not"],
]);

const monitorMap = object(
  {
    ...SCOPE_FIELDS,
    sample_interval_seconds: {
      schema: durationInSeconds({ min: MIN_INTERVAL_SECONDS }),
      doc: "Time between two samples; it doubles after every 1,000 samples of an attempt.",
      default: DEFAULT_INTERVAL_MS,
    },
    jobs: { schema: object(SCOPE_FIELDS), doc: "Another place for `enabled` and `granularity`; it wins." },
    generate_plots: {
      schema: boolean(),
      doc: "Has no effect: `daruma logs RUN STEP --usage` prints the samples.",
    },
  },
  { unread: { why: UNREAD } },
);

/** How the processes of attempts are watched; null: as always, without samples. */
export const resourceMonitor: Schema<ResourceMonitor | null, Written<typeof monitorMap>> = named(
  "resource_monitor",
  {
    ...monitorMap,
    read(node, path, context) {
      const given = monitorMap.read(node, path, context);
      if (given === undefined || node.kind !== "map") return undefined;
      const plots = findEntry(node, "generate_plots");
      if (plots !== undefined && given.generate_plots === true) {
        const message = "`generate_plots` has no effect: Daruma makes no plots";
        const hint = "`daruma logs RUN STEP --usage` prints the samples as CSV.";
        const place = { at: plots.keyAt, path: childPath(path, plots.key) };
        context.findings.warn({ code: "NO_EFFECT", message, hint, ...place });
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
