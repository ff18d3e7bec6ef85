import type { FastifyInstance } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import type { Store } from "../store/store.js";
import { requireRole } from "./admission.js";

export interface HealthParts {
  readonly store: Pick<Store, "ping">;
  readonly isReady: () => boolean;
  readonly metrics?: () => string;
}

/** The content type of the Prometheus text format. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Serves health checks for a supervisor: alive, ready, metrics. */
export function healthRoutes(app: FastifyInstance, { store, isReady, metrics }: HealthParts): void {
  const open = { config: { public: true as const } };
  app.get("/healthz", open, async () => ({ status: "ok" }));
  let asking: Promise<void> | null = null;
  app.get("/readyz", open, async () => {
    if (!isReady()) throw new DarumaError("SERVER_STOPPING", "the server is starting or stopping");
    // Anybody may ask, and a ping is a write, so concurrent requests share one.
    asking ??= store.ping().finally(() => {
      asking = null;
    });
    await asking;
    return { status: "ready" };
  });
  if (metrics === undefined) return;
  app.get("/metrics", { onRequest: requireRole("viewer") }, async (_request, reply) =>
    reply.header("content-type", METRICS_TYPE).send(metrics()),
  );
}
