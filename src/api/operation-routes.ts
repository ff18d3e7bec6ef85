import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import type { Context, Principal } from "../operations/context.js";
import type { Operation, RestForm } from "../operations/operation.js";
import { perform } from "../operations/perform.js";
import { fromPublishedWords, inPublishedWords } from "../operations/published-words.js";
import { principalOf, recheckCaller, requireRole } from "./admission.js";
import type { Authenticator } from "./authenticate.js";
import { API_PREFIX, MAX_BODY_BYTES, MAX_IMPORT_BODY_BYTES, MAX_SOURCE_BODY_BYTES } from "./limits.js";
import { type Fields, type InputReader, inputReader, pathParameters } from "./read-input.js";
import type { StreamForm, StreamReplies } from "./stream-reply.js";

export interface OperationRouteParts {
  readonly context: (principal: Principal) => Context | Promise<Context>;
  readonly authenticator: Authenticator;
  readonly streams: StreamReplies;
  readonly checkOutput: boolean;
}

const TRUE = new Set(["true", "1"]);
const FALSE = new Set(["false", "0", ""]);

export function operationRoutes(
  app: FastifyInstance,
  operations: readonly Operation[],
  parts: OperationRouteParts,
): void {
  for (const operation of operations) {
    const { rest } = operation;
    const route = {
      method: rest.method,
      bodyLimit: bodyLimitOf(operation),
      onRequest: requireRole(operation.role),
    };
    const handler = handlerOf(operation, parts);
    app.route({ ...route, handler, url: `${API_PREFIX}${routePath(rest)}` });
    if (rest.unprefixed !== true) continue;
    const published = handlerOf(operation, parts, PUBLISHED_WORDS);
    app.route({ ...route, handler: published, url: routePath(rest) });
  }
}

function bodyLimitOf({ name, input }: Operation): number {
  if (name === "import_run") return MAX_IMPORT_BODY_BYTES;
  return "source" in input.shape ? MAX_SOURCE_BODY_BYTES : MAX_BODY_BYTES;
}

/** Writes `/runs/{run_id}` as the router expects it. */
function routePath({ path, lastTakesSlashes }: RestForm): string {
  const open = lastTakesSlashes === true ? path.replace(/\{\w+\}$/, "*") : path;
  return open.replace(/\{(\w+)\}/g, ":$1");
}

/** Gives the part that the router calls `*` its own name. */
function pathFields({ path, lastTakesSlashes }: RestForm, params: Fields): Fields {
  if (lastTakesSlashes !== true) return params;
  const { "*": rest, ...named } = params;
  return { ...named, [pathParameters(path).at(-1)!]: rest };
}

interface Words {
  readonly query: (query: Fields) => Fields;
  readonly answer: (answer: unknown) => unknown;
}

const OWN_WORDS: Words = { query: (query) => query, answer: (answer) => answer };
const PUBLISHED_WORDS: Words = { query: fromPublishedWords, answer: inPublishedWords };

function handlerOf(
  operation: Operation,
  parts: OperationRouteParts,
  words = OWN_WORDS,
): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  const read = inputReader(operation);
  const { stream, rest } = operation;
  return async (request, reply) => {
    const form = streamForm(operation, request);
    const input = readRequest(operation, read, request, words, form !== null);
    const context = await parts.context(principalOf(request));
    if (form !== null && stream !== undefined) {
      const mayStillRead = recheckCaller(parts.authenticator, request, operation.role);
      return parts.streams.send(reply, form, mayStillRead, (signal) => stream(context, input, signal));
    }
    const output = await perform(operation, context, input);
    if (parts.checkOutput) operation.output.parse(output);
    reply.code(rest.status ?? 200).header("cache-control", "no-store");
    return rest.status === 204 ? reply.send() : reply.send(words.answer(output));
  };
}

function readRequest(
  operation: Operation,
  read: InputReader,
  request: FastifyRequest,
  words: Words,
  streams: boolean,
): Fields {
  const query: { [name: string]: unknown } = { ...words.query(request.query as Fields) };
  if (operation.stream !== undefined) delete query.follow;
  const last = request.headers["last-event-id"];
  const { streamFrom } = operation;
  if (streams && streamFrom !== undefined && typeof last === "string" && last !== "")
    query[streamFrom] = last;
  const params = pathFields(operation.rest, request.params as Fields);
  return read({ params, query, body: request.body, key: keyOf(operation, request) });
}

/**
 * The idempotency key. An operation that ignores keys refuses one, because a client that repeats a request relies on
 * it.
 */
function keyOf({ name, effect, input }: Operation, { headers }: FastifyRequest): string | undefined {
  const given = headers["idempotency-key"];
  if (given === undefined || effect === "reads") return undefined;
  if (typeof given !== "string") throw new DarumaError("INVALID_INPUT", "Idempotency-Key: give one key");
  if (!Object.hasOwn(input.shape, "key"))
    throw new DarumaError("INVALID_INPUT", `${name} takes no Idempotency-Key`, {
      hint: "Leave the header out: repeating this request may do it twice.",
    });
  return given;
}

/** The form of a stream; null if the answer is a single JSON object. */
function streamForm({ stream, rest }: Operation, request: FastifyRequest): StreamForm | null {
  if (stream === undefined || request.method === "HEAD") return null;
  if (/\btext\/event-stream\b/i.test(request.headers.accept ?? "")) return "events";
  const { follow = "" } = request.query as { follow?: unknown };
  if (typeof follow === "string" && FALSE.has(follow)) return null;
  if (typeof follow === "string" && TRUE.has(follow)) return rest.streamsText === true ? "text" : "events";
  throw new DarumaError("INVALID_INPUT", "follow: must be true or false");
}
