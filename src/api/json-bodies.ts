import type { FastifyInstance } from "fastify";
import { DarumaError } from "../core/errors.js";
import { MAX_JSON_DEPTH } from "./limits.js";

/** JSON and nothing else: what a form of another site's page can send without asking is refused. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "string" },
    async (_request: unknown, body: string) => parseBody(body),
  );
}

/** Undefined: there is none. */
function parseBody(body: string): unknown {
  if (body === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw new DarumaError("MALFORMED_REQUEST", `the body is not JSON: ${(error as Error).message}`);
  }
  checkShape(value);
  return value;
}

/**
 * Whoever nests deeper than anybody writes wants something to run out of stack, and whoever names a prototype wants to
 * change it. Level by level, as recursion is what is to be kept from harm.
 */
function checkShape(value: unknown): void {
  let level: object[] = isObject(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH)
      throw new DarumaError("MALFORMED_REQUEST", `the body is nested deeper than ${MAX_JSON_DEPTH} levels`);
    const inner: object[] = [];
    for (const item of level) {
      if (Object.hasOwn(item, "__proto__"))
        throw new DarumaError("MALFORMED_REQUEST", "the body has a key __proto__");
      for (const child of Object.values(item)) if (isObject(child)) inner.push(child);
    }
    level = inner;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
