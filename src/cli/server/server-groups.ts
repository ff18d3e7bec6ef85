import { principalOf } from "../../api/admission.js";
import { HOOK_DOCUMENT, hookRoutes } from "../../api/hook-routes.js";
import { API_PREFIX } from "../../api/limits.js";
import type { RouteGroup } from "../../api/server.js";
import { WORKER_DOCUMENT, workerRoutes } from "../../api/worker-routes.js";
import type { PoolDesk } from "../../fleet/desk/pool-desk.js";
import { mcpRoute } from "../../mcp/mcp-server.js";
import { callOperation } from "../../operations/call-operation.js";
import type { Context, Principal } from "../../operations/context.js";
import type { WebhookDesk } from "../../operations/triggers/webhook-desk.js";

/** Routes for workers on other machines. */
export function workerGroup(desk: PoolDesk): RouteGroup {
  return {
    prefix: API_PREFIX,
    role: "worker",
    unlimited: true,
    routes: workerRoutes({ desk }),
    document: WORKER_DOCUMENT,
  };
}

/** Routes for signed requests of other systems, which start runs. */
export function hookGroup(desk: WebhookDesk): RouteGroup {
  return { prefix: "", role: null, routes: hookRoutes(desk, Date.now), document: HOOK_DOCUMENT };
}

/** Routes of the streamable HTTP transport of MCP: the operations as tools, for the role of the token. */
export function mcpGroup(contextOf: (principal: Principal) => Context, version: string): RouteGroup {
  return {
    prefix: "",
    role: "viewer",
    routes: async (app) =>
      mcpRoute(app, (request) => {
        const principal = principalOf(request);
        return {
          role: principal.role,
          version,
          call: async (name, input) => callOperation(contextOf(principal), name, input),
        };
      }),
    document: {
      "/mcp": {
        post: {
          operationId: "mcp",
          tags: ["mcp"],
          summary: "the Model Context Protocol over streamable HTTP",
          description:
            "Every operation that the token's role allows is a tool. One JSON-RPC message per request; nothing is kept between requests.",
          requestBody: { content: { "application/json": { schema: { type: "object" } } } },
          responses: { "200": { description: "An answer of the protocol." } },
        },
      },
    },
  };
}
