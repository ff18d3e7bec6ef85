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
import { answerBrokenRequests, answerErrors, type FaultListener } from "./error-answers.js";
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
import { documentRoutes, healthRoutes, pageRoutes } from "./open-routes.js";
import { operationRoutes } from "./operation-routes.js";
import { sessionRoutes } from "./session.js";
import { StreamReplies } from "./stream-reply.js";

export interface ServerParts {
  readonly store: Store;
  readonly now: () => number;
  /** Makes the context for handlers of operations. It waits until the engine is up. */
  readonly context: (principal: Principal) => Context | Promise<Context>;
  /** False during startup and shutdown. */
  readonly isReady: () => boolean;
  /** Returns the answer of /metrics, in the Prometheus text format. */
  readonly metrics?: () => string;
  readonly groups?: readonly RouteGroup[];
  /** The folder with the files of the page, if it is served. */
  readonly page?: string;
  readonly operations?: readonly Operation[];
  readonly options?: ServerOptions;
  readonly onRequest?: (line: RequestLine) => void;
  readonly onFault?: FaultListener;
}

export interface ServerOptions {
  readonly requireTokens?: boolean;
  /** Origins of other web pages that may use the API. */
  readonly allowedOrigins?: readonly string[];
  /** Limit per minute for each token, or for each address without tokens. 0 means no limit. */
  readonly requestsPerMinute?: number;
  /** Limit per minute for runs that a token starts, or that everybody starts without tokens. 0 means no limit. */
  readonly runsPerMinute?: number;
  /** Limit for open event streams of a token, or of an address without tokens. 0 means no limit. */
  readonly streamsPerToken?: number;
  /** Limit for open connections of all clients. 0 means no limit. */
  readonly maxConnections?: number;
  /** Takes the client's address from `x-forwarded-for`. */
  readonly trustProxy?: boolean;
  readonly heartbeatMs?: number;
  /** Checks answers against the operation's output schema. For tests. */
  readonly checkOutput?: boolean;
}

/** Routes that are not operations: the protocol of workers, of MCP clients. */
export interface RouteGroup {
  readonly prefix: string;
  /** The role that a caller needs. Null for routes that check callers themselves. */
  readonly role: Role | null;
  readonly routes: FastifyPluginAsync;
  /** Set for programs of the installation itself, whose requests are not limited. */
  readonly unlimited?: true;
  /** Routes for the OpenAPI document: path below the server's root -> operations by method. */
  readonly document?: { readonly [path: string]: object };
}

/** One answered request, to be logged. */
export interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly principal: string | null;
  readonly address: string;
}

/** Makes the REST API from the table of operations. Call `listen` to start it. */
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

/** Headers that allow only a page of the same origin. */
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
  // Off: TLS may end at a proxy in front of this server, so it is not decided here whether browsers must use it.
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
  // A batch of MCP messages counts as many requests. The first was counted with the request itself.
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
      // Without the query, which may contain what somebody searches for.
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
        // Browsers never show these answers, and there are very many.
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
