import { cronProblem, isTimeZone } from "../../../core/schedule/ticks.js";
import { CATCH_UPS, OVERLAPS, type ScheduleDefinition } from "../../../core/schedule/triggers.js";
import type { Json } from "../../../core/text/json.js";
import { rename } from "../../read/fix.js";
import type { Path } from "../../read/path.js";
import {
  type Located,
  listOf,
  located,
  mapOf,
  named,
  object,
  type ReadContext,
  type ReadOf,
  type Schema,
  union,
  type Written,
} from "../../read/schema.js";
import { duration, json, oneOf, text } from "../../read/schema-scalars.js";
import { didYouMean, quote } from "../../read/suggest.js";

/** The id of a schedule that has none. */
const DEFAULT_ID = "default";
const MAX_SCHEDULES = 100;
const MAX_CRON_CHARS = 200;
const INPUT_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const CRON_HINT =
  'Write five fields (minute, hour, day of month, month, day of week), or six with seconds first, such as "0 3 * * *".';

const cron = text({
  expected: 'a cron expression such as "0 3 * * *"',
  maxChars: MAX_CRON_CHARS,
  check(written, node, path, { findings }) {
    const problem = cronProblem(written);
    if (problem === null) return;
    const message = `${quote(written)} is not a cron expression: ${problem}`;
    findings.error({ code: "INVALID_VALUE", message, hint: CRON_HINT, at: node.at, path });
  },
});

const timezone = text({
  expected: "a time zone such as Europe/Berlin",
  maxChars: 100,
  pattern: /^[A-Za-z][A-Za-z0-9_+/-]*$/,
  rule: "Write a name of the time zone database, such as Europe/Berlin or UTC.",
  check(written, node, path, { findings }) {
    if (isTimeZone(written)) return;
    const nearest = findings.suggester.nearest(written, Intl.supportedValuesOf("timeZone"));
    const message = `${quote(written)} is not a time zone${didYouMean(nearest)}`;
    const hint = "Write a name of the time zone database, such as Europe/Berlin or UTC.";
    const mending = rename(written, nearest);
    findings.error({ code: "INVALID_VALUE", message, hint, at: node.at, path, mending });
  },
});

const FIELDS = {
  id: {
    schema: located(
      text({
        expected: "a name",
        pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
        rule: "An id has at most 100 letters, digits, `.`, `_` and `-`, and begins with a letter or a digit.",
      }),
    ),
    doc: "The schedule's name; several of one workflow need different ones.",
    default: DEFAULT_ID,
  },
  cron: {
    schema: cron,
    doc: "When runs start: minute, hour, day of month, month, day of week; with six fields, seconds first.",
    required: true,
  },
  timezone: { schema: timezone, doc: "The time zone of `cron`.", default: "UTC" },
  overlap: {
    schema: oneOf(OVERLAPS),
    doc: "If a run of this schedule is not over (held counts): start none, or one more.",
    default: "skip",
  },
  catch_up: {
    schema: oneOf(CATCH_UPS),
    doc: "Which runs are made up for that should have started while no server was running: none, the last one, or all (at most 100).",
    default: "last",
  },
  jitter: {
    schema: duration({ min: 0 }),
    doc: "Each run starts up to so much later, so that not everything starts at once.",
    default: 0,
  },
  inputs: {
    schema: mapOf(located(json()), {
      keyPattern: INPUT_NAME,
      keyRule: "Give the name of an input of the workflow.",
    }),
    doc: "Inputs of these runs.",
  },
} as const;

/** A schedule with the places of what is checked once the whole file is known. */
export interface ScheduleDraft {
  readonly definition: ScheduleDefinition;
  readonly inputs: ReadonlyMap<string, Located<Json>>;
  readonly at: number;
  readonly path: Path | null;
}

const map = object(FIELDS);

const one: Schema<ScheduleDraft, Written<typeof map>> = named("schedule", {
  ...map,
  expected: "a schedule",
  read(node, path, context) {
    const keys = map.read(node, path, context);
    if (keys?.cron === undefined) return undefined;
    const inputs = keys.inputs ?? new Map<string, Located<Json>>();
    return { definition: definitionOf({ ...keys, cron: keys.cron }), inputs, at: node.at, path };
  },
});

function definitionOf(keys: ReadOf<typeof FIELDS> & { readonly cron: string }): ScheduleDefinition {
  return {
    id: keys.id?.value ?? DEFAULT_ID,
    cron: keys.cron,
    timezone: keys.timezone ?? "UTC",
    overlap: keys.overlap ?? "skip",
    catchUp: keys.catch_up ?? "last",
    jitterMs: keys.jitter ?? 0,
    inputs: Object.fromEntries([...(keys.inputs ?? [])].map(([name, { value }]) => [name, value])),
  };
}

const several = listOf(one, { items: "schedules" });

/** One, or a list of them. */
export const schedules: Schema<
  readonly ScheduleDraft[],
  Written<typeof map> | readonly Written<typeof map>[]
> = {
  ...union(one, several),
  read(node, path, context) {
    if (node.kind === "map") {
      const read = one.read(node, path, context);
      return read === undefined ? undefined : [read];
    }
    const read = several.read(node, path, context);
    if (read !== undefined) checkList(read, { at: node.at, path }, context);
    return read;
  },
};

function checkList(
  read: readonly ScheduleDraft[],
  { at, path }: { readonly at: number; readonly path: Path | null },
  { findings }: ReadContext,
): void {
  if (read.length > MAX_SCHEDULES) {
    const message = `${read.length} schedules are more than ${MAX_SCHEDULES}`;
    findings.error({ code: "INVALID_VALUE", message, hint: "Use fewer of them.", at, path });
  }
  const seen = new Set<string>();
  for (const { definition, ...place } of read) {
    if (seen.has(definition.id)) {
      const message = `two schedules have the id ${quote(definition.id)}`;
      const hint = "Give each of them its own `id`.";
      findings.error({ code: "DUPLICATE_ID", message, hint, at: place.at, path: place.path });
    }
    seen.add(definition.id);
  }
}
