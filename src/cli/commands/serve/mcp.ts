import { resolve } from "node:path";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isJSONRPCRequest, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { DarumaError } from "../../../core/errors/errors.js";
import { ServerParts } from "../../../host/server-parts.js";
import { createMcpServer } from "../../../mcp/mcp-server.js";
import type { CallOperation } from "../../../mcp/tools.js";
import { callOperation } from "../../../operations/call-operation.js";
import type { Principal } from "../../../operations/context.js";
import type { OperationName } from "../../../operations/operations.js";
import { ROLES, type Role } from "../../../operations/roles.js";
import { openClient } from "../../remote/open-client.js";
import { namedSettings } from "../../run-settings.js";
import type { Session } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { readVersion } from "../../version.js";

type Id = string | number;

/** Tracks requests of a transport that were read but not answered yet. */
class OpenRequests {
  private readonly open = new Set<Id>();
  private waiting: (() => void)[] = [];

  /** Begins tracking. Call it after the transport has been connected. */
  constructor(transport: Transport) {
    const { onmessage } = transport;
    const send = transport.send.bind(transport);
    transport.onmessage = (message, extra) => {
      if (isJSONRPCRequest(message)) this.open.add(message.id);
      const canceled = canceledBy(message);
      // A canceled request gets no answer.
      if (canceled !== null) this.settle(canceled);
      onmessage?.(message, extra);
    };
    transport.send = async (message, options) => {
      await send(message, options);
      if (!("method" in message) && message.id !== undefined) this.settle(message.id);
    };
  }

  /** Resolves when all requests are answered. */
  answered(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private settle(id: Id): void {
    this.open.delete(id);
    if (this.open.size > 0) return;
    for (const resolve of this.waiting) resolve();
    this.waiting = [];
  }
}

function canceledBy(message: JSONRPCMessage): Id | null {
  if (!("method" in message) || message.method !== "notifications/cancelled") return null;
  return (message.params as { requestId?: Id } | undefined)?.requestId ?? null;
}

export interface McpFlags {
  readonly role?: string;
  readonly as?: string;
}

interface Connection {
  readonly call: CallOperation;
  readonly close: () => Promise<void>;
}

/** Speaks MCP over stdin and stdout until the client disconnects, for a server's runs or for those of this folder. */
export async function mcp(flags: McpFlags, session: Session): Promise<number> {
  const role = readRole(flags.role ?? "operator");
  const connection =
    session.options.server === undefined
      ? await openHere({ name: "mcp", role, ...(flags.as === undefined ? {} : { as: flags.as }) }, session)
      : await openRemote(session, flags.as);
  const server = createMcpServer({ call: connection.call, role, version: readVersion() });
  const transport = new StdioServerTransport();
  const told = new Promise<void>((done) => {
    server.onclose = done;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => done());
  });
  const read = new Promise<void>((done) => {
    process.stdin.once("end", done);
    process.stdin.once("close", done);
  });
  try {
    await server.connect(transport);
    const requests = new OpenRequests(transport);
    // A client that has closed its end may still wait for answers to its requests.
    await Promise.race([told, read.then(() => requests.answered())]);
    await server.close();
  } finally {
    await connection.close();
  }
  return EXIT.completed;
}

/**
 * Opens the runs of this folder. Runs started here go on in this process; those that are unfinished when it ends wait
 * for the next one.
 */
async function openHere(principal: Principal, { options }: Session): Promise<Connection> {
  const { outputDir, store } = options;
  const parts = await ServerParts.open({
    outputDir: resolve(outputDir),
    ...(await namedSettings(options)),
    ...(store === undefined ? {} : { store }),
  });
  await parts.takeUpRuns();
  return {
    call: (name, input) => callOperation(parts.context(principal), name, input),
    close: () => parts.close(),
  };
}

async function openRemote({ options }: Session, as: string | undefined): Promise<Connection> {
  const client = await openClient(options, "program", as);
  // Reports a wrong address or token now, not as the failure of every tool.
  await client.call("list_runs", { limit: 1 });
  return {
    call: (name, input) => client.call(name as OperationName, input as never),
    close: () => client.close(),
  };
}

function readRole(text: string): Role {
  const role = ROLES.find((known) => known === text);
  if (role === undefined || role === "worker")
    throw new DarumaError("USAGE", `unknown role ${text}`, {
      hint: "Use one of viewer, operator, admin.",
    });
  return role;
}
