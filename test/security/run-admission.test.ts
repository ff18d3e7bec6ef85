import { describe, expect, it } from "vitest";
import { runAdmission } from "../../src/api/rate-window.js";
import { DarumaError } from "../../src/core/errors/errors.js";
import { bearer } from "../support/api-server.js";
import { LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const SOURCE = "name: tiny\nsteps: { only: { type: noop } }";

describe("runs that a token starts", () => {
  it("are limited to so many a minute, over REST and MCP together; others may still start theirs", async () => {
    const server = await servers.start({ runsPerMinute: 2 });
    const tokens = await server.tokens();
    const start = (token: string) => server.ask("POST", "/api/v1/runs", { token, body: { source: SOURCE } });
    const overMcp = async (token: string) => {
      const answer = await fetch(`${server.url}/mcp`, {
        method: "POST",
        headers: {
          ...bearer(token),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "start_run", arguments: { source: SOURCE } },
        }),
      });
      return (await answer.json()) as { result: { isError?: boolean; content: { text: string }[] } };
    };
    expect((await start(tokens.operator)).status).toBe(201);
    expect((await overMcp(tokens.operator)).result.isError).toBeUndefined();
    const refused = await start(tokens.operator);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.body).toMatchObject({ code: "TOO_MANY_RUNS", status: 429 });
    const told = (await overMcp(tokens.operator)).result;
    expect(JSON.parse(told.content[0]!.text)).toMatchObject({ code: "TOO_MANY_RUNS" });
    expect((await start(tokens.admin)).status).toBe(201);
  });

  it("begin anew with the next minute", () => {
    let now = 0;
    const admit = runAdmission(1, () => now);
    const codeOf = (): string | null => {
      try {
        admit({ name: "ci", role: "operator" });
        return null;
      } catch (error) {
        const { code, details } = error as DarumaError;
        expect(error).toBeInstanceOf(DarumaError);
        return `${code} ${String(details.retry_after_seconds)}`;
      }
    };
    expect(codeOf()).toBeNull();
    now = 45_000;
    expect(codeOf()).toBe("TOO_MANY_RUNS 15");
    now = 60_000;
    expect(codeOf()).toBeNull();
  });
});
