import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import { createMcpServer, type McpOptions } from "./mcp-server.js";

/** The caller and its role, as the server around the route has found out. */
export type OptionsOf = (request: FastifyRequest) => McpOptions;

/**
 * The streamable HTTP transport at POST /mcp. Nothing is kept between requests, so that any server behind a balancer
 * can answer any of them; a client therefore gets no stream of its own (GET) and has nothing to end (DELETE).
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
