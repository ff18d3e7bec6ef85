import { z } from "zod";
import { claim, heartbeat, logChunk, outputUpload, registration, reports } from "../fleet/desk/protocol.js";
import { API_PREFIX } from "./limits.js";

interface DescribedRoute {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly ofWorker?: boolean;
  readonly body?: z.ZodType | "bytes";
  readonly query?: z.ZodObject;
  readonly status?: 204;
}

const MAY_CHANGE =
  "Part of the protocol between a server and its workers, which may change from version to version.";

const PARAMETERS: { readonly [name: string]: string } = {
  id: "The worker's id, from its registration.",
  token: "Of the attempt, as its assignment has it.",
  stream: "What the piece is of: what the attempt printed, or one of its other files.",
  offset: "The byte of the log at which the piece begins. Bytes that the server already has are skipped.",
};

const BYTES = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };

function describeRoute(route: DescribedRoute): object {
  const { name, summary, description, ofWorker = true, body, query, status } = route;
  const id = {
    name: "id",
    in: "path",
    required: true,
    description: PARAMETERS.id,
    schema: { type: "string" },
  };
  const content = body === "bytes" ? BYTES : { "application/json": { schema: body && schemaOf(body) } };
  return {
    operationId: `worker_${name}`,
    tags: ["worker protocol"],
    summary,
    description: `${description} ${MAY_CHANGE}`,
    "x-daruma-role": "worker",
    parameters: [...(ofWorker ? [id] : []), ...(query === undefined ? [] : parametersOf(query))],
    ...(body === undefined ? {} : { requestBody: { required: true, content } }),
    responses: { [status ?? 200]: { description: "It worked." } },
  };
}

function parametersOf(query: z.ZodObject): object[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    description: PARAMETERS[name],
    schema,
  }));
}

function schemaOf(body: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { io: "input", unrepresentable: "any" });
  return schema;
}

const AT = `${API_PREFIX}/workers`;

/** The protocol of workers, for the OpenAPI document. Unlike the operations, it may change with every version. */
export const WORKER_DOCUMENT = {
  [AT]: {
    post: describeRoute({
      name: "register",
      summary: "register with what it offers and holds",
      description:
        "A worker says its name, its slots, processors, memory and tags, and which attempts it still has from before; the answer is its id, its session and how often it must send a heartbeat. A worker that missed an answer registers again: what it was given and does not name is given to it again in the new session.",
      ofWorker: false,
      body: registration,
    }),
  },
  [`${AT}/{id}/claim`]: {
    post: describeRoute({
      name: "claim",
      summary: "wait for attempts to execute",
      description: "Waits until there are attempts that fit the worker, or for as long as it asks to.",
      body: claim,
    }),
  },
  [`${AT}/{id}/heartbeat`]: {
    post: describeRoute({
      name: "heartbeat",
      summary: "keep what it has",
      description:
        "A heartbeat. The answer names the attempts to stop. The attempts of a worker that sends none are lost.",
      body: heartbeat,
    }),
  },
  [`${AT}/{id}/reports`]: {
    post: describeRoute({
      name: "report",
      summary: "what became of attempts",
      description:
        "Results of attempts. Each has its own answer; a result that was sent twice counts once. With the session the answer also brings attempts to execute, as the answer to a claim does.",
      body: reports,
    }),
  },
  [`${AT}/{id}/logs`]: {
    put: describeRoute({
      name: "log",
      summary: "a piece of a log",
      description: "Bytes that an attempt has printed, in order.",
      body: "bytes",
      query: logChunk,
    }),
  },
  [`${AT}/{id}/output`]: {
    put: describeRoute({
      name: "output",
      summary: "an output too large for a report",
      description: "The output of an attempt, as JSON text, before the report that refers to it.",
      body: "bytes",
      query: outputUpload,
    }),
  },
  [`${AT}/{id}`]: {
    delete: describeRoute({
      name: "leave",
      status: 204,
      summary: "leave",
      description: "The worker leaves. The attempts that it still has are lost, and run again elsewhere.",
    }),
  },
};
