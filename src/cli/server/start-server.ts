import { existsSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { FastifyInstance } from "fastify";
import { isLoopbackHost } from "../../api/browser-guard.js";
import { DEFAULT_HOST, DEFAULT_MAX_CONNECTIONS, DEFAULT_PORT } from "../../api/limits.js";
import { runAdmission } from "../../api/rate-window.js";
import { type ServerParts as ApiParts, createServer, type ServerOptions } from "../../api/server.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { BreakerDefinition, NotifyRule } from "../../core/model/definition.js";
import { isOver, type Run } from "../../core/model/run.js";
import type { ChannelSettings } from "../../file/settings/channels.js";
import type { RetentionSettings } from "../../file/settings/retention.js";
import type { ClusterSettings } from "../../file/settings/settings.js";
import { ServerParts } from "../../host/server-parts.js";
import type { Context, Principal } from "../../operations/context.js";
import { type ServerShares, sharesOfServer } from "../../run/process/open-file-limit.js";
import { builtFile } from "../../run/process/package-folder.js";
import { openStore } from "../../run/wiring/open-store.js";
import type { Store } from "../../store/store.js";
import type { PrometheusRegistry } from "../../tell/metrics/prometheus.js";
import { openTelemetry, type Telemetry } from "../../tell/metrics/telemetry.js";
import { growHeapSlowly } from "../heap-growth.js";
import { hookGroup, mcpGroup, workerGroup } from "./server-groups.js";

type Load = ReturnType<ServerParts["load"]>;

const GAUGES: { readonly [key in keyof Load]: { readonly name: string; readonly help: string } } = {
  runs: { name: "daruma_owned_runs", help: "Runs that this server is running." },
  slots: { name: "daruma_busy_slots", help: "Slots in use, on all workers of this server." },
  workers: { name: "daruma_workers", help: "Workers of this server, itself included." },
};

/** Adds gauges for a server's present load, read whenever metrics are requested. */
function addServerGauges(registry: PrometheusRegistry, parts: ServerParts): void {
  for (const key of Object.keys(GAUGES) as (keyof Load)[])
    registry.addGauge({ ...GAUGES[key], read: () => [{ labels: {}, value: parts.load()[key] }] });
  registry.addGauge({
    name: "daruma_breaker_open",
    help: "1 for each breaker in use here that is open, 0 for the others.",
    read: () =>
      [...parts.breakers()].map(([breaker, state]) => ({
        labels: { breaker },
        value: state === "open" ? 1 : 0,
      })),
  });
  registry.addGauge({
    name: "daruma_worker_quarantined",
    help: "1 for each worker or node known here that is in quarantine or on probation, 0 for the others.",
    read: () =>
      [...parts.workerHealth()].map(([worker, state]) => ({
        labels: { worker },
        value: state === "healthy" ? 0 : 1,
      })),
  });
}

export interface StartServerOptions extends ServerOptions {
  readonly host?: string;
  /** The port; 0 for any free one. */
  readonly port?: number;
  /** The address at which others reach the server, if it differs from the one it listens at. */
  readonly url?: string;
  readonly outputDir: string;
  readonly store?: string | Store;
  /** How many attempts run at a time in this process. */
  readonly maxParallel?: number;
  /** How long a run stays with a server, and an attempt with a worker, that shows no sign of life. */
  readonly leaseMs?: number;
  readonly env?: { readonly [name: string]: string | undefined };
  /** Batch systems on which the server may run steps. */
  readonly clusters?: readonly ClusterSettings[];
  readonly breakers?: readonly BreakerDefinition[];
  /** The settings file that was read; null if there was none. */
  readonly settingsFile?: string | null;
  /** How long finished runs and their files are kept. By default forever. */
  readonly retention?: RetentionSettings;
  readonly channels?: readonly ChannelSettings[];
  readonly notify?: readonly NotifyRule[];
  /** Called with a sentence about allocations, for logging. */
  readonly onCluster?: (text: string) => void;
  readonly version?: string;
  readonly onRequest?: ApiParts["onRequest"];
  readonly onFault?: ApiParts["onFault"];
  /** Called with each run that it continues after another process, and with the number of attempts lost by that. */
  readonly onTakeOver?: (run: Run, lostAttempts: number) => void;
  /** Called with a sentence while steps wait because the machine is short of something. */
  readonly onShortage?: (text: string) => void;
  /** Called with each run that it leaves to another server, and the reason. */
  readonly onLeftAlone?: (run: Run, why: string) => void;
}

/** A server that listens and runs workflows. */
export interface RunningServer {
  readonly url: string;
  /** The address it listens at. Others cannot use it if it stands for all addresses of the machine. */
  readonly listensAt: string;
  /** The number of runs that it took over from others, or from itself before a restart. */
  readonly takenUp: number;
  readonly store: Store;
  /** Accepts no more requests, ends streams and releases its runs. */
  close(): Promise<void>;
}

/** How long requests in progress may delay the shutdown. */
const CLOSE_TIMEOUT_MS = 5_000;

export async function startServer(options: StartServerOptions): Promise<RunningServer> {
  const outputDir = resolve(options.outputDir);
  const store = await openStore(options.store, outputDir);
  const telemetry = openTelemetry(options.env ?? process.env);
  const state = { ready: false, url: "" };
  let parts: ServerParts | null = null;
  let app: FastifyInstance | null = null;
  const close = async (): Promise<void> => {
    state.ready = false;
    if (app !== null) await closeApp(app);
    await (parts ?? store).close();
    await telemetry.close();
  };
  try {
    checkPort(options.port ?? DEFAULT_PORT);
    await refuseReadOnly(store);
    await checkTokens(store, options);
    parts = await openParts(options, store, outputDir, () => state.url);
    parts.onLoaded((run, log) => telemetry.recall(run, log));
    parts.onCommitted((run, events) => {
      telemetry.take(run, events);
      for (const { event } of events) {
        // Runs at rest had no owner, and finally canceled ones are not continued.
        if (event.type === "run.resumed" && event.lost.length > 0 && !isOver(run))
          options.onTakeOver?.(run, event.lost.length);
        if (event.type === "workspace.left") options.onLeftAlone?.(run, event.message);
      }
    });
    if (options.onShortage !== undefined) parts.onShortage(options.onShortage);
    addServerGauges(telemetry.registry, parts);
    app = await createServer(apiParts(options, store, parts, telemetry, () => state.ready));
    closeUnusedConnections(app);
    // Listens first: a port in use then stops the server before it touches any run, and steps need to know the address.
    state.url = await listen(app, options);
    growHeapSlowly();
    const takenUp = await parts.takeUpRuns();
    state.ready = true;
    return { url: state.url, listensAt: listensAt(app, options), takenUp, store, close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/** Refuses a read-only store. Other trouble with it may pass while the server is up, and /readyz reports it. */
async function refuseReadOnly(store: Store): Promise<void> {
  try {
    await store.ping();
  } catch (error) {
    if (error instanceof DarumaError && error.code === "STORE_READ_ONLY") throw error;
  }
}

function sharesOf({
  maxParallel = availableParallelism(),
  maxConnections = DEFAULT_MAX_CONNECTIONS,
}: StartServerOptions): ServerShares {
  return sharesOfServer({ attempts: maxParallel, connections: maxConnections });
}

function openParts(
  options: StartServerOptions,
  store: Store,
  outputDir: string,
  apiUrl: () => string,
): Promise<ServerParts> {
  const { env, leaseMs, clusters, breakers, retention, channels, notify, onCluster } = options;
  const { version, settingsFile } = options;
  return ServerParts.open({
    store,
    outputDir,
    apiUrl,
    maxParallel: sharesOf(options).attempts,
    ...(env === undefined ? {} : { env }),
    ...(clusters === undefined ? {} : { clusters }),
    ...(breakers === undefined ? {} : { breakers }),
    ...(retention === undefined ? {} : { retention }),
    ...(channels === undefined ? {} : { channels }),
    ...(notify === undefined ? {} : { notify }),
    ...(version === undefined ? {} : { version }),
    ...(settingsFile === undefined ? {} : { settingsFile }),
    ...(onCluster === undefined ? {} : { onCluster }),
    ...(leaseMs === undefined ? {} : { leaseMs, attemptLeaseMs: leaseMs }),
  });
}

function apiParts(
  options: StartServerOptions,
  store: Store,
  parts: ServerParts,
  telemetry: Telemetry,
  isReady: () => boolean,
): ApiParts {
  const admitRun = runAdmission(options.runsPerMinute);
  const context = (principal: Principal): Context => ({
    ...parts.context(principal),
    limits: () => options,
    admitRun: () => admitRun(principal),
  });
  return {
    store,
    now: Date.now,
    context,
    isReady,
    metrics: () => telemetry.registry.text(),
    ...pageFolder(),
    groups: [
      workerGroup(parts.desk),
      mcpGroup(context, options.version ?? ""),
      hookGroup(parts.webhooks(admitRun)),
    ],
    options: { ...options, maxConnections: sharesOf(options).connections },
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
    ...(options.onFault === undefined ? {} : { onFault: options.onFault }),
  };
}

/** The folder of the built page. */
function pageFolder(): { readonly page?: string } {
  const page = builtFile("web");
  return page !== null && existsSync(join(page, "index.html")) ? { page } : {};
}

/** Checks for tokens, because the first one made for an allocation would lock out everybody who has none. */
async function checkTokens(
  store: Store,
  { host = DEFAULT_HOST, clusters = [] }: Pick<StartServerOptions, "host" | "clusters">,
): Promise<void> {
  const hasClusters = clusters.length > 0;
  if (isLoopbackHost(host) && !hasClusters) return;
  const now = Date.now();
  const tokens = await store.listTokens();
  const usable = tokens.some(
    ({ revoked_at, expires_at }) => revoked_at === null && (expires_at === null || expires_at > now),
  );
  const why = tokens.length === 0 ? "there is no token" : "every token is revoked or expired";
  if (usable) return;
  const reason = hasClusters
    ? "workers on a cluster need tokens"
    : `${host} is reachable from other machines`;
  throw new DarumaError("TOKENS_NEEDED", `${reason}, and ${why}`);
}

const MAX_PORT = 65_535;

function checkPort(port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT)
    throw new DarumaError("USAGE", `invalid port ${port}`, {
      hint: `Choose a port from 1 to ${MAX_PORT}, or 0 for any free port.`,
    });
}

async function listen(app: FastifyInstance, options: StartServerOptions): Promise<string> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT } = options;
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new DarumaError("USAGE", `cannot listen at ${host} port ${port}: ${reasonOf(error)}`, {
      hint: "Choose another address with --host and --port.",
      cause: error,
    });
  }
  return options.url ?? `http://${reachable(host)}:${portOf(app)}`;
}

function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo).port;
}

function listensAt(app: FastifyInstance, { host = DEFAULT_HOST }: StartServerOptions): string {
  return `${host.includes(":") ? `[${host}]` : host}:${portOf(app)}`;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return "the port is in use";
  if (code === "EACCES") return "permission denied";
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return "this machine has no such address";
  return message;
}

/** A host to connect to. One that stands for all addresses cannot be used. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/**
 * Closes unused connections. Clients open some in advance, and one that was never used does not count as idle, so the
 * shutdown would wait for it.
 */
function closeUnusedConnections(app: FastifyInstance): void {
  const open = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  app.addHook("preClose", async () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  });
}

async function closeApp(app: FastifyInstance): Promise<void> {
  const patience = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close().finally(() => clearTimeout(patience));
}
