import { DarumaError } from "../core/errors/errors.js";
import type { Name } from "./flow.js";

const MAX_NAME_CHARS = 200;
/** What scopes, occurrences and the names of jobs on a command line are written with. */
const RESERVED = /[/#[\]@,\p{Cc}]/u;

/** The name of a call as it stands in the log. What comes from data may have any text: it is escaped. */
export function nameOf(name: Name): string {
  if (typeof name === "string") return checked(name);
  const [first, ...keys] = name;
  return checked([checked(first), ...keys.map((key) => escaped(String(key)))].join(":"));
}

function checked(name: string): string {
  const wrong =
    typeof name !== "string" || name.trim() === "" || name !== name.trim()
      ? "is empty, or begins or ends with a space"
      : name.length > MAX_NAME_CHARS
        ? `is longer than ${MAX_NAME_CHARS} characters`
        : RESERVED.test(name)
          ? "has one of / # [ ] @ , or a control character"
          : null;
  if (wrong === null) return name;
  throw new DarumaError(
    "INVALID_VALUE",
    `the name of a step ${wrong}: ${JSON.stringify(name).slice(0, 80)}`,
    {
      hint: 'Take a short name; what comes from data belongs into a list: ["pack", item.sku].',
    },
  );
}

function escaped(key: string): string {
  return key.replace(/[/#[\]@,:%\s\p{Cc}]/gu, (each) => encodeURIComponent(each));
}

/** Called again, one after the other, it counts up. */
export function occurrence(name: string, n: number): string {
  return n === 1 ? name : `${name}#${n}`;
}

/** The first line outside of Daruma, as `order.ts:12`; null: nobody can tell. */
export function callSite(): string | null {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 12;
  const lines = (new Error().stack ?? "").split("\n").slice(1);
  Error.stackTraceLimit = limit;
  const line = lines.find(
    (each) => !each.includes(HERE) && !each.includes("node:") && /:\d+:\d+\)?$/.test(each),
  );
  return /([^/\\(\s]+:\d+):\d+\)?$/.exec(line ?? "")?.[1] ?? null;
}

/** The folder of this file, as stacks have it. */
const HERE = new URL(".", import.meta.url).pathname;
