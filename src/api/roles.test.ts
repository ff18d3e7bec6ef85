import { describe, expect, it } from "vitest";
import { bareServer, bearer, putRoleTokens } from "../../test/support/api-server.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS } from "../operations/operations.js";
import { mayAct, ROLES } from "../operations/roles.js";

const REFUSED = new Set([401, 403]);

function pathsOf({ rest }: Operation): string[] {
  const path = rest.path.replace(/\{\w+\}/g, "1");
  return [`/api/v1${path}`, ...(rest.unprefixed === true ? [path] : [])];
}

describe("what a role may do", () => {
  it("is for every operation, at every path of it, what the table says", async () => {
    const { app, store } = await bareServer();
    const tokens = await putRoleTokens(store);
    const wrong: string[] = [];
    let wrongTokens = 0;
    for (const operation of OPERATIONS) {
      const { method } = operation.rest;
      for (const url of pathsOf(operation)) {
        const ask = async (headers: Record<string, string>) =>
          (
            await app.inject({
              method,
              url,
              headers: { host: "127.0.0.1", ...headers },
              // Varied, because an address with too many wrong tokens is refused.
              remoteAddress: `10.0.0.${wrongTokens % 200}`,
            })
          ).statusCode;
        if ((await ask({})) !== 401) wrong.push(`${method} ${url} without a token`);
        wrongTokens += 1;
        if ((await ask(bearer(`drm_${"?".repeat(43)}`))) !== 401)
          wrong.push(`${method} ${url} with a wrong one`);
        for (const role of ROLES) {
          // Skipped, because it would revoke the tokens of this test.
          if (operation.name === "revoke_token" && role === "admin") continue;
          const status = await ask(bearer(tokens[role]));
          const allowed = mayAct(role, operation.role);
          if (allowed ? REFUSED.has(status) : status !== 403)
            wrong.push(`${method} ${url} as ${role}: ${status}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it("covers every operation: none is open to a worker, and what changes something needs more than reading", () => {
    for (const { name, role, effect } of OPERATIONS) {
      expect(mayAct("worker", role), name).toBe(false);
      if (effect !== "reads") expect(mayAct("viewer", role), name).toBe(false);
    }
  });

  it("lets an admin do everything", async () => {
    const { app, store } = await bareServer();
    const tokens = await putRoleTokens(store);
    for (const operation of OPERATIONS)
      for (const url of pathsOf(operation)) {
        const { statusCode } = await app.inject({
          method: operation.rest.method,
          url,
          headers: { host: "127.0.0.1", ...bearer(tokens.admin) },
        });
        expect(REFUSED.has(statusCode), `${operation.name}: ${statusCode}`).toBe(false);
      }
  });
});
