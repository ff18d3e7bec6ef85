import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
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
