import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { FastifyInstance } from "fastify";
import { expect, vi } from "vitest";
import { runCommandLine } from "../../src/cli/declare/program.js";
import { Daruma } from "../../src/host/daruma.js";
import { operateThrough } from "../../src/host/local-operate.js";
import type { Cut } from "../../src/mcp/answer-budget.js";
import { createMcpServer } from "../../src/mcp/mcp-server.js";
import { callOperation } from "../../src/operations/call-operation.js";
import type { Context } from "../../src/operations/context.js";
import { bareServer } from "./api-server.js";

interface Told {
  readonly cut?: readonly Cut[];
  [field: string]: unknown;
}

/** The list or text of that name goes on with that of the next part. */
function extend(answer: Told, more: Told, [name, ...inner]: readonly string[]): void {
  const [has, gets] = [answer[name!], more[name!]];
  if (inner.length > 0) extend(has as Told, gets as Told, inner);
  else answer[name!] = typeof has === "string" ? has + String(gets) : [...(has as []), ...(gets as [])];
}

/** Every way to ask about the runs of one output folder, all in this process. */
export class Interfaces {
  private constructor(
    readonly outputDir: string,
    readonly library: Daruma,
    private readonly app: FastifyInstance,
    private readonly client: Client,
  ) {}

  static async open(outputDir: string): Promise<Interfaces> {
    const library = await Daruma.open({ outputDir });
    const { store } = library;
    const context = (principal: Context["principal"]): Context => ({
      ...{ store, outputDir, principal, now: Date.now, customActions: [] },
      ...{ operate: operateThrough(store), runner: null },
    });
    const { app } = await bareServer({ store, context });
    const client = new Client({ name: "test", version: "1" });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const admin = context({ name: "agent", role: "admin" });
    const server = createMcpServer({
      call: (name, input) => callOperation(admin, name, input),
      role: "admin",
      version: "1",
    });
    await server.connect(theirs);
    await client.connect(ours);
    return new Interfaces(outputDir, library, app, client);
  }

  /** GET, as JSON; the server holds its answer against the schema. */
  async rest<Answer>(path: string): Promise<Answer> {
    const answer = await this.app.inject({ url: path, headers: { host: "127.0.0.1" } });
    expect([path, answer.statusCode, answer.statusCode === 200 || answer.body]).toEqual([path, 200, true]);
    return answer.json<Answer>();
  }

  /** What a tool answers, with whatever did not fit into its first answer. */
  async mcp<Answer>(name: string, given: { [name: string]: unknown }): Promise<Answer> {
    const { cut = [], ...answer } = await this.tool(name, given);
    for (const { field, cursor: first } of cut) {
      for (let cursor = first; cursor !== null; ) {
        const more = await this.tool(name, { ...given, cursor });
        extend(answer, more, field.split("/"));
        cursor = more.cut?.find((part) => part.field === field)?.cursor ?? null;
      }
    }
    return answer as Answer;
  }

  private async tool(name: string, given: { [name: string]: unknown }): Promise<Told> {
    const answer = await this.client.callTool({ name, arguments: given });
    expect([name, answer.isError ?? false]).toEqual([name, false]);
    return JSON.parse((answer.content as { text: string }[])[0]!.text) as Told;
  }

  cli<Answer>(...words: string[]): Promise<Answer> {
    return commandLineJson(this.outputDir, ...words);
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.app.close();
    await this.library.close();
  }
}

/** What a command that waits for a run listens to, and never lets go of: its process ends. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A command line in this process: what it prints with --json. */
export async function commandLineJson<Answer>(outputDir: string, ...words: string[]): Promise<Answer> {
  let printed = "";
  const before = SIGNALS.map((signal) => process.listeners(signal));
  const out = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  try {
    await runCommandLine([...words, "--json", "--quiet", "--output-dir", outputDir]);
  } finally {
    out.mockRestore();
    for (const [at, signal] of SIGNALS.entries())
      for (const listener of process.listeners(signal))
        if (!before[at]!.includes(listener)) process.removeListener(signal, listener);
  }
  return JSON.parse(printed) as Answer;
}
