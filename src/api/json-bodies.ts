import type { FastifyInstance } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import { MAX_JSON_DEPTH, MAX_RESULT_DEPTH } from "./limits.js";

/** Accepts JSON only. Other types, which a form on another site can send without asking, are refused. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "string" },
    async (_request: unknown, body: string) => parseBody(body),
  );
}

/** Parses a body. Undefined if it is empty. */
export function parseBody(body: string): unknown {
  const value = parseJson(body);
  checkDepth(value, MAX_JSON_DEPTH, (item) => {
    if (Object.hasOwn(item, "__proto__"))
      throw new DarumaError("MALFORMED_REQUEST", "the body has a key __proto__");
  });
  return value;
}

/** Parses a body for the routes of workers, where results of steps may have any keys. */
export function parseReport(body: string): unknown {
  const value = parseJson(body);
  checkDepth(value, MAX_RESULT_DEPTH);
  return value;
}

function parseJson(body: string): unknown {
  if (body === "") return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch (error) {
    throw new DarumaError("MALFORMED_REQUEST", `the body is not JSON: ${(error as Error).message}`);
  }
}

/**
 * Refuses deep nesting, which could exhaust the stack, and lets `check` refuse dangerous keys. It goes level by level,
 * because recursion is what the depth would harm.
 */
function checkDepth(value: unknown, max: number, check: (item: object) => void = () => {}): void {
  let level: object[] = isObject(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > max) throw tooDeep(max);
    const inner: object[] = [];
    for (const item of level) {
      check(item);
      for (const child of Object.values(item)) if (isObject(child)) inner.push(child);
    }
    level = inner;
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Checks the depth of JSON text without parsing it, for text that is stored as it is. */
export function checkTextDepth(text: Uint8Array): void {
  let depth = 0;
  let isInString = false;
  for (let place = 0; place < text.length; place += 1) {
    const byte = text[place]!;
    if (isInString) {
      if (byte === BACKSLASH) place += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === OPEN_LIST || byte === OPEN_MAP) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_MAP) depth -= 1;
    if (depth > MAX_RESULT_DEPTH) throw tooDeep(MAX_RESULT_DEPTH);
  }
}

function tooDeep(max: number): DarumaError {
  return new DarumaError("MALFORMED_REQUEST", `the body is nested deeper than ${max} levels`);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
