import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { DarumaError } from "../core/errors/errors.js";
import type { PoolDesk } from "../fleet/desk/pool-desk.js";
import {
  claim,
  heartbeat,
  logChunk,
  MAX_LOG_CHUNK_BYTES,
  MAX_OUTPUT_BYTES,
  MAX_REPORTS_BYTES,
  outputUpload,
  registration,
  reports,
} from "../fleet/desk/protocol.js";
import { checkTextDepth, parseReport } from "./json-bodies.js";
import { API_PREFIX } from "./limits.js";

type WorkerRequest = FastifyRequest<{ Params: { id: string } }>;

/** Routes for workers on other machines. All rules are in the desk. */
export function workerRoutes({ desk }: { readonly desk: PoolDesk }): FastifyPluginAsync {
  return async (app) => {
    readBodies(app);
    app.addHook("preClose", async () => desk.closeClaims());
    const at = "/workers/:id";
    app.addHook("preHandler", async (request) => {
      const { id } = request.params as { id?: string };
      if (id !== undefined) desk.checkCaller(id, tokenOf(request));
    });
    app.post("/workers", async (request) =>
      desk.register(read(registration, request.body), tokenOf(request)),
    );
    app.post(`${at}/claim`, async (request: WorkerRequest, reply: FastifyReply) => {
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return desk.claim(request.params.id, read(claim, request.body), gone.signal);
    });
    app.post(`${at}/heartbeat`, async (request: WorkerRequest) =>
      desk.heartbeat(request.params.id, read(heartbeat, request.body)),
    );
    app.post(
      `${at}/reports`,
      { bodyLimit: MAX_REPORTS_BYTES },
      async (request: WorkerRequest, reply: FastifyReply) =>
        desk.reportAndClaim(request.params.id, read(reports, request.body), () => reply.raw.destroyed),
    );
    app.put(`${at}/logs`, { bodyLimit: MAX_LOG_CHUNK_BYTES }, async (request: WorkerRequest) =>
      desk.writeLog(request.params.id, read(logChunk, request.query), bytesOf(request.body)),
    );
    app.put(`${at}/output`, { bodyLimit: MAX_OUTPUT_BYTES }, async (request: WorkerRequest) => {
      const bytes = bytesOf(request.body);
      checkTextDepth(bytes);
      return desk.writeOutput(request.params.id, read(outputUpload, request.query).token, bytes);
    });
    app.delete(at, async (request: WorkerRequest, reply: FastifyReply) => {
      desk.deregister(request.params.id);
      return reply.code(204).send();
    });
  };
}

function tokenOf({ caller }: FastifyRequest): number | null {
  return caller?.token ?? null;
}

/** Reads results of steps, which have rules of their own, and bytes: logs and outputs. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, async (_: unknown, body: string) =>
    parseReport(body),
  );
  app.addContentTypeParser(
    "application/octet-stream",
    { parseAs: "buffer" },
    async (_: unknown, body: Buffer) => body,
  );
}

function read<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const told = parsed.error.issues.slice(0, 5).map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new DarumaError("MALFORMED_REQUEST", told.join("; "));
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  throw new DarumaError("MEDIA_TYPE", "bytes are sent as application/octet-stream");
}

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
