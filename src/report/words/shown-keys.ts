/**
 * Every key of the log that programs see in another form than it is stored in: JSON has snake_case everywhere. The stored
 * form stays as it is, so that old logs are read without a migration. A test compares this with the shapes of all events.
 */
export const SHOWN_KEYS = {
  afterMs: "after_ms",
  changedFiles: "changed_files",
  cpuMs: "cpu_ms",
  deadlineAt: "deadline_at",
  definitionHash: "definition_hash",
  delayMs: "delay_ms",
  diffHash: "diff_hash",
  dueAction: "due_action",
  dueAt: "due_at",
  durationMs: "duration_ms",
  exitCode: "exit_code",
  failedStep: "failed_step",
  failureHandlers: "failure_handlers",
  failureRoute: "failure_route",
  failureRouting: "failure_routing",
  jobId: "job_id",
  keptBack: "kept_back",
  maxAttempts: "max_attempts",
  maxLoops: "max_loops",
  noProgress: "no_progress",
  partOf: "part_of",
  peakMemoryBytes: "peak_memory_bytes",
  queueAttempts: "queue_attempts",
  readBytes: "read_bytes",
  retryMax: "retry_max",
  runId: "run_id",
  selectedEdgeId: "selected_edge_id",
  targetNodeId: "target_node_id",
  targetNodeKey: "target_node_key",
  usedMs: "used_ms",
  userData: "user_data",
  warnAt: "warn_at",
  workflowId: "workflow_id",
  writtenBytes: "written_bytes",
} as const;

/** What lies below these is the user's own, or is stored as it is shown. */
export const KEPT_BELOW = [
  "inputs",
  "context",
  "value",
  "items",
  "error",
  "usage",
  "userData",
  "user_data",
] as const;

type Renamed = typeof SHOWN_KEYS;
type Kept = (typeof KEPT_BELOW)[number];

/** A type of the log under the keys that programs see. */
export type Shown<T> = T extends readonly (infer Entry)[]
  ? readonly Shown<Entry>[]
  : T extends object
    ? {
        readonly [Key in keyof T as Key extends keyof Renamed ? Renamed[Key] : Key]: Key extends Kept
          ? T[Key]
          : Shown<T[Key]>;
      }
    : T;

const TO_SHOWN = new Map<string, string>(Object.entries(SHOWN_KEYS));
const TO_STORED = new Map([...TO_SHOWN].map(([stored, shown]) => [shown, stored]));
const IS_KEPT: ReadonlySet<string> = new Set(KEPT_BELOW);

export function withShownKeys<T>(stored: T): Shown<T> {
  return renamed(stored, TO_SHOWN) as Shown<T>;
}

/** The other way. Keys that are in the stored form already stay. */
export function withStoredKeys(shown: unknown): unknown {
  return renamed(shown, TO_STORED);
}

/** The name that programs see for a key of the log. */
export function shownKey(stored: string): string {
  return TO_SHOWN.get(stored) ?? stored;
}

/** The other way. */
export function storedKey(shown: string): string {
  return TO_STORED.get(shown) ?? shown;
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((entry) => renamed(entry, names));
  if (typeof value !== "object" || value === null) return value;
  const result: { [key: string]: unknown } = {};
  // No `Object.fromEntries`: logs are long, and a list for each field takes three times as long.
  for (const key of Object.keys(value)) {
    const inner = (value as { readonly [key: string]: unknown })[key];
    const shown = IS_KEPT.has(key) || typeof inner !== "object" ? inner : renamed(inner, names);
    if (key === "__proto__") Object.defineProperty(result, key, { value: shown, enumerable: true });
    else result[names.get(key) ?? key] = shown;
  }
  return result;
}
