import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import { createMcpServer, type McpOptions } from "./mcp-server.js";

/** Returns the caller and its role, which the server has already determined. */
export type OptionsOf = (request: FastifyRequest) => McpOptions;

/**
 * The streamable HTTP transport at POST /mcp. It is stateless, so any server behind a load balancer can answer any
 * request. A client therefore has no stream of its own (GET) and no session to end (DELETE).
 */
export function mcpRoute(server: FastifyInstance, optionsOf: OptionsOf): void {
  server.post("/mcp", async (request, reply) => {
    const mcp = createMcpServer(optionsOf(request));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    reply.hijack();
    reply.raw.once("close", () => {
      void transport.close();
      void mcp.close();
    });
    await mcp.connect(transport as Parameters<typeof mcp.connect>[0]);
    await transport.handleRequest(request.raw, reply.raw, request.body);
  });
  const notAllowed = async (): Promise<never> => {
    throw new DarumaError("METHOD_NOT_ALLOWED", "this MCP server keeps no sessions", { hint: "Use POST." });
  };
  server.get("/mcp", notAllowed);
  server.delete("/mcp", notAllowed);
}
