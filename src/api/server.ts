import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import type { Context, Principal } from "../operations/context.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS } from "../operations/operations.js";
import type { Role } from "../operations/roles.js";
import type { Store } from "../store/store.js";
import { admitRequests, requireRole } from "./admission.js";
import { Authenticator } from "./authenticate.js";
import { documentRoutes } from "./document-routes.js";
import { answerBrokenRequests, answerErrors, type FaultListener } from "./error-answers.js";
import { healthRoutes } from "./health-routes.js";
import { readJsonBodies } from "./json-bodies.js";
import {
  DEFAULT_MAX_CONNECTIONS,
  DEFAULT_REQUESTS_PER_MINUTE,
  KEEP_ALIVE_TIMEOUT_MS,
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MAX_PATH_PARAMETER_CHARS,
  REQUEST_TIMEOUT_MS,
} from "./limits.js";
import { operationRoutes } from "./operation-routes.js";
import { pageRoutes } from "./page-routes.js";
import { sessionRoutes } from "./session.js";
import { StreamReplies } from "./stream-reply.js";

export interface ServerParts {
  readonly store: Store;
  readonly now: () => number;
  /** What the handlers of operations work with; waits until the engine is up. */
  readonly context: (principal: Principal) => Context | Promise<Context>;
  /** False while it starts and once it is going down. */
  readonly isReady: () => boolean;
  /** The answer of /metrics, in the text form of Prometheus. */
  readonly metrics?: () => string;
  readonly groups?: readonly RouteGroup[];
  /** The folder with the files of the page. */
  readonly page?: string;
  readonly operations?: readonly Operation[];
  readonly options?: ServerOptions;
  readonly onRequest?: (line: RequestLine) => void;
  readonly onFault?: FaultListener;
}

export interface ServerOptions {
  readonly requireTokens?: boolean;
  /** Web pages of these origins may use the API. */
  readonly allowedOrigins?: readonly string[];
  /** Requests of one token, or of one address where there are no tokens. 0: any number. */
  readonly requestsPerMinute?: number;
  /** Runs that one token, or everybody where there are no tokens, may start. 0: any number. */
  readonly runsPerMinute?: number;
  /** Event streams that one token, or one address where there are no tokens, may have open. 0: any number. */
  readonly streamsPerToken?: number;
  /** Connections open at a time, of all clients together. 0: any number. */
  readonly maxConnections?: number;
  /** The address of a client stands in `x-forwarded-for`. */
  readonly trustProxy?: boolean;
  readonly heartbeatMs?: number;
  /** Answers are checked against the operation's output schema: for tests. */
  readonly checkOutput?: boolean;
}

/** Routes that are no operations: the protocol of workers, of MCP clients. */
export interface RouteGroup {
  readonly prefix: string;
  /** Null: open to everybody; its routes ask by themselves. */
  readonly role: Role | null;
  readonly routes: FastifyPluginAsync;
  /** Programs of the installation itself, which ask as often as they must. */
  readonly unlimited?: true;
  /** For the OpenAPI document: path below the server's root -> operations by method. */
  readonly document?: { readonly [path: string]: object };
}

/** One answered request, for the log. */
export interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly principal: string | null;
  readonly address: string;
}

/** The REST API over the table of operations. It listens once `listen` is called. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const options = parts.options ?? {};
  const operations = parts.operations ?? OPERATIONS;
  const streams = new StreamReplies(options);
  const app = createApp(options, parts.onFault);
  const authenticator = new Authenticator({
    store: parts.store,
    now: parts.now,
    requireTokens: options.requireTokens ?? false,
  });
  app.addHook("onClose", async () => authenticator.close());
  logRequests(app, parts);
  await app.register(helmet, SECURITY_HEADERS);
  admitRequests(app, authenticator, options.allowedOrigins ?? []);
  await limitRequests(app, parts);
  readJsonBodies(app);
  const groups = parts.groups ?? [];
  answerErrors(app, operations, parts.onFault);
  app.addHook("preClose", async () => streams.close());
  healthRoutes(app, parts);
  documentRoutes(app, operations, groups);
  sessionRoutes(app, authenticator, operations);
  if (parts.page !== undefined) pageRoutes(app, parts.page);
  operationRoutes(app, operations, {
    ...parts,
    authenticator,
    streams,
    checkOutput: options.checkOutput ?? false,
  });
  for (const group of groups) await app.register(groupPlugin(group), { prefix: group.prefix });
  return app;
}

function createApp(options: ServerOptions, onFault: FaultListener | undefined): FastifyInstance {
  const app = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: options.trustProxy ?? false,
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER_CHARS, ignoreTrailingSlash: true },
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    return503OnClosing: true,
    ...answerBrokenRequests(onFault),
  });
  const { maxConnections = DEFAULT_MAX_CONNECTIONS } = options;
  if (maxConnections > 0) app.server.maxConnections = maxConnections;
  return app;
}

/** Fit for a page of the same origin and nothing else. */
const SECURITY_HEADERS = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", "data:"],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  // A client may speak TLS before the server offers it.
  strictTransportSecurity: false,
  referrerPolicy: { policy: "no-referrer" as const },
  xFrameOptions: { action: "deny" as const },
};

async function limitRequests(app: FastifyInstance, { options }: ServerParts): Promise<void> {
  const max = options?.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE;
  if (max === 0) return;
  await app.register(rateLimit, {
    max,
    timeWindow: "1 minute",
    keyGenerator: (request) => request.caller?.key ?? `address ${request.ip}`,
    allowList: (request) => request.routeOptions.config?.unlimited === true,
  });
  const countOne = app.createRateLimit();
  // A batch of messages of MCP is as many requests as it holds; the first is counted with the request.
  app.addHook("preHandler", async (request) => {
    const more = Array.isArray(request.body) ? request.body.length - 1 : 0;
    for (let counted = 0; counted < more; counted++) {
      const limit = await countOne(request);
      if (!limit.isAllowed && limit.isExceeded)
        throw new DarumaError("RATE_LIMITED", "the batch has more requests than are left for this minute");
    }
  });
}

function logRequests(app: FastifyInstance, { onRequest }: ServerParts): void {
  if (onRequest === undefined) return;
  app.addHook("onResponse", async (request, reply) => {
    onRequest({
      method: request.method,
      // The query may hold what somebody searches for; the path says enough.
      path: request.url.split("?", 1)[0]!,
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
      principal: request.caller?.principal.name ?? null,
      address: request.ip,
    });
  });
}

function groupPlugin({ role, routes, unlimited }: RouteGroup): FastifyPluginAsync {
  return async (app) => {
    app.addHook("onRoute", (route) => {
      route.config = { ...route.config, tokensOnly: true };
    });
    if (unlimited === true)
      app.addHook("onRoute", (route) => {
        route.config = { ...route.config, unlimited };
        // No browser shows what these answer, and there are very many.
        route.helmet = false;
      });
    if (role !== null) app.addHook("onRequest", requireRole(role));
    else
      app.addHook("onRoute", (route) => {
        route.config = { ...route.config, public: true };
      });
    await app.register(routes);
  };
}
