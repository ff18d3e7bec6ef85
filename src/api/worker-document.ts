import { z } from "zod";
import { claim, heartbeat, logChunk, outputUpload, registration, reports } from "../worker/protocol.js";
import { API_PREFIX } from "./limits.js";

interface DescribedRoute {
  readonly name: string;
  readonly summary: string;
  readonly ofWorker?: boolean;
  readonly body?: z.ZodType | "bytes";
  readonly query?: z.ZodObject;
}

const BYTES = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };

function describeRoute({ name, summary, ofWorker = true, body, query }: DescribedRoute): object {
  const id = { name: "id", in: "path", required: true, schema: { type: "string" } };
  const content = body === "bytes" ? BYTES : { "application/json": { schema: body && schemaOf(body) } };
  return {
    operationId: `worker_${name}`,
    tags: ["worker protocol"],
    summary,
    "x-daruma-role": "worker",
    parameters: [...(ofWorker ? [id] : []), ...(query === undefined ? [] : parametersOf(query))],
    ...(body === undefined ? {} : { requestBody: { required: true, content } }),
    responses: { "200": { description: "It worked." } },
  };
}

function parametersOf(query: z.ZodObject): object[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function schemaOf(body: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { io: "input", unrepresentable: "any" });
  return schema;
}

const AT = `${API_PREFIX}/workers`;

/** What workers speak, for the OpenAPI document. It may change from version to version; the operations do not. */
export const WORKER_DOCUMENT = {
  [AT]: {
    post: describeRoute({
      name: "register",
      summary: "come with what it offers and holds",
      ofWorker: false,
      body: registration,
    }),
  },
  [`${AT}/{id}/claim`]: {
    post: describeRoute({ name: "claim", summary: "wait for attempts to execute", body: claim }),
  },
  [`${AT}/{id}/heartbeat`]: {
    post: describeRoute({ name: "heartbeat", summary: "keep what it has", body: heartbeat }),
  },
  [`${AT}/{id}/reports`]: {
    post: describeRoute({ name: "report", summary: "what became of attempts", body: reports }),
  },
  [`${AT}/{id}/logs`]: {
    put: describeRoute({ name: "log", summary: "a piece of a log", body: "bytes", query: logChunk }),
  },
  [`${AT}/{id}/output`]: {
    put: describeRoute({
      name: "output",
      summary: "an output too large for a report",
      body: "bytes",
      query: outputUpload,
    }),
  },
  [`${AT}/{id}`]: { delete: describeRoute({ name: "leave", summary: "leave" }) },
};
