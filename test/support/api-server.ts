import type { FastifyInstance } from "fastify";
import { createServer, type ServerParts } from "../../src/api/server.js";
import type { Context } from "../../src/operations/context.js";
import { ROLES, type Role } from "../../src/operations/roles.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";
import { hashOfToken } from "../../src/store/token-text.js";

export type RoleTokens = { readonly [role in Role]: string };

/** One token of each role, in the store. */
export async function putRoleTokens(store: Store): Promise<RoleTokens> {
  const tokens: { [role: string]: string } = {};
  for (const role of ROLES) {
    const token = `drm_${role.padEnd(43, "x")}`;
    tokens[role] = token;
    await store.putToken({ name: `a ${role}`, role, hash: hashOfToken(token), at: 0, expiresAt: null });
  }
  return tokens as RoleTokens;
}

export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** A server over a memory store in which nothing runs. */
export async function bareServer(
  parts: Partial<ServerParts> = {},
): Promise<{ app: FastifyInstance; store: Store; faults: unknown[] }> {
  const store = parts.store ?? createMemoryStore();
  const faults: unknown[] = [];
  const app = await createServer({
    store,
    now: Date.now,
    isReady: () => true,
    context: (principal): Context => ({
      store,
      outputDir: "/nowhere",
      principal,
      now: Date.now,
      operate: async () => ({
        done: "run.pause",
        before: "running",
        status: "running",
        changed: [],
        goes_back: null,
      }),
      runner: null,
      customActions: [],
    }),
    onFault: (_reference, error) => faults.push(error),
    ...parts,
    options: { checkOutput: true, ...parts.options },
  });
  return { app, store, faults };
}
