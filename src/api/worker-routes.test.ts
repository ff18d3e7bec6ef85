import { describe, expect, it } from "vitest";
import { bareServer } from "../../test/support/api-server.js";
import { MAX_JSON_LEVELS } from "../core/text/json.js";
import type { PoolDesk } from "../fleet/desk/pool-desk.js";
import { MAX_RESULT_DEPTH } from "./limits.js";
import { workerRoutes } from "./worker-routes.js";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

async function server() {
  const taken: unknown[] = [];
  const desk = {
    closeClaims: () => {},
    checkCaller: () => {},
    reportAndClaim: async (_: string, { reports }: { readonly reports: readonly unknown[] }) => {
      taken.push(...reports);
      return { results: [], assignments: [], stop: [] };
    },
    writeOutput: async (_id: string, _token: string, bytes: Buffer) => {
      taken.push(bytes);
      return {};
    },
  } as unknown as PoolDesk;
  const { app, faults } = await bareServer({
    groups: [{ prefix: "/api/v1", role: "worker", routes: workerRoutes({ desk }) }],
  });
  const send = async (method: "POST" | "PUT", url: string, type: string, payload: string) => {
    const headers = { host: "127.0.0.1:7420", "content-type": type };
    const answer = await app.inject({ method, url: `/api/v1/workers/w${url}`, headers, payload });
    return [answer.statusCode, answer.json().code];
  };
  const report = (value: string) => {
    const held = { token: "t".repeat(32), job: 10_000_001, attempt: 1, recovery: false };
    const outcome = {
      kind: "succeeded",
      output: { kind: "value", value: "VALUE" },
      items: null,
      duration_ms: 1,
    };
    const body = JSON.stringify({ reports: [{ ...held, outcome, logs: [], summary: null }] });
    return send(
      "POST",
      "/reports",
      "application/json",
      body.replace('"VALUE"', () => value),
    );
  };
  const upload = (value: string) =>
    send("PUT", `/output?token=${"t".repeat(32)}`, "application/octet-stream", value);
  return { report, upload, taken, faults };
}

describe("what a worker sends", () => {
  it("may be nested deep, but not so deep that nothing could write it down again", async () => {
    const { report, taken, faults } = await server();
    // The deepest output that a step may have.
    expect(await report(nested(MAX_JSON_LEVELS))).toEqual([200, undefined]);
    expect(taken).toHaveLength(1);
    for (const value of [
      nested(MAX_RESULT_DEPTH),
      nested(20_000),
      `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
    ])
      expect(await report(value)).toEqual([400, "MALFORMED_REQUEST"]);
    expect([taken.length, faults]).toEqual([1, []]);
  });

  it("as a file of JSON has the same limit, and brackets in a text are no depth", async () => {
    const { upload, taken } = await server();
    const text = JSON.stringify([`"\\${"[".repeat(5_000)}`, '\\"[', "é"]);
    for (const value of [nested(MAX_RESULT_DEPTH), text, "[[],[]]"])
      expect(await upload(value)).toEqual([200, undefined]);
    expect(await upload(nested(MAX_RESULT_DEPTH + 1))).toEqual([400, "MALFORMED_REQUEST"]);
    expect(await upload(`["a\\\\", ${nested(20_000)}]`)).toEqual([400, "MALFORMED_REQUEST"]);
    expect(taken).toHaveLength(3);
  });
});
