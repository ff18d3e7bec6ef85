import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { parseDuration } from "../../file/read/amounts.js";
import type { TokenRow } from "../../store/token-rows.js";
import { hashOfToken, newToken } from "../../store/token-text.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { ROLES, type Role } from "../roles.js";
import { name } from "../schemas.js";

/** Marks that turn the order of a line are among those that nobody sees. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}]/u;

const token = z.object({
  id: z.number(),
  name: z.string(),
  role: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
});

export const createToken = operation({
  name: "create_token",
  summary: "create a token for the server; it is shown once",
  description:
    "Creates a token with a role: viewer reads, operator also starts and controls runs, worker only executes attempts, admin may do everything. The token is shown once, in this answer; only its hash is stored.",
  audience: "people",
  role: "admin",
  effect: "changes",
  input: z.strictObject({
    name: name
      .refine((text) => !INVISIBLE.test(text), "must have no invisible characters")
      .refine((text) => text !== "local", "must not be local: that is who asks without a token")
      .describe("Who it is for; the log names it with every action."),
    role: z.enum(ROLES).describe("What the token allows."),
    expires_in: z
      .string()
      .max(40)
      .optional()
      .describe("A duration such as 12h or 30d; by default the token does not expire."),
  }),
  output: token.extend({ token: z.string() }),
  rest: { method: "POST", path: "/tokens", status: 201 },
  cli: [
    {
      words: "token create",
      positional: ["name"],
      examples: ["daruma token create ci --role operator --expires-in 90d"],
    },
  ],
  store: "create",
  handler: issue,
});

export const listTokens = operation({
  name: "list_tokens",
  summary: "list tokens, without their text",
  description: "Lists all tokens with role, expiry and revocation. Their text is not stored.",
  audience: "people",
  role: "admin",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({ items: z.array(token) }),
  rest: { method: "GET", path: "/tokens" },
  cli: [{ words: "token list", positional: [], examples: ["daruma token list"] }],
  store: "optional",
  handler: async ({ store }) => ({ items: (await store.listTokens()).map(tokenItem) }),
});

export const revokeToken = operation({
  name: "revoke_token",
  summary: "revoke a token",
  description:
    "Revokes a token: from now on the server refuses it. `revoked` is false if it was already revoked.",
  role: "admin",
  effect: "destroys",
  input: z.strictObject({ id: z.coerce.number().int().positive().describe("The token's id, not its text.") }),
  output: z.object({ id: z.number(), revoked: z.boolean() }),
  rest: { method: "DELETE", path: "/tokens/{id}" },
  cli: [{ words: "token revoke", positional: ["id"], examples: ["daruma token revoke 2"] }],
  handler: (context, { id }) => revoke(context, id),
});

/** Its text is shown once, here; only its hash is kept. */
async function issue(
  { store, now }: Context,
  { name, role, expires_in }: { name: string; role: Role; expires_in?: string | undefined },
) {
  const token = newToken();
  const lifeMs = expires_in === undefined ? null : durationOf(expires_in);
  const row = await store.putToken({
    name,
    role,
    hash: hashOfToken(token),
    at: now(),
    expiresAt: lifeMs === null ? null : now() + lifeMs,
  });
  return { ...tokenItem(row), token };
}

function durationOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0) {
    const why = ms === null ? "is not a duration" : "would make the token expire immediately";
    throw new DarumaError("INVALID_INPUT", `expires_in: ${text} ${why}`, { hint: "Write 12h, 30d or PT1H." });
  }
  return ms;
}

function tokenItem({ id, name, role, created_at, expires_at, revoked_at }: TokenRow) {
  const time = (at: number | null): string | null => (at === null ? null : iso(at));
  return {
    id,
    name,
    role,
    created_at: iso(created_at),
    expires_at: time(expires_at),
    revoked_at: time(revoked_at),
  };
}

async function revoke({ store, now }: Context, id: number): Promise<{ id: number; revoked: boolean }> {
  const revoked = await store.revokeToken(id, now());
  if (!revoked && !(await store.listTokens()).some((row) => row.id === id))
    throw new DarumaError("TOKEN_NOT_FOUND", `there is no token ${id}`);
  return { id, revoked };
}

export const whoami = operation({
  name: "whoami",
  summary: "show who you are to the server: the token's name and role",
  description:
    "Returns the name and the role of the token of this request. Where no token is needed: local or command line, and admin.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({ name: z.string(), role: z.enum(ROLES) }),
  rest: { method: "GET", path: "/whoami" },
  cli: [{ words: "whoami", positional: [], examples: ["daruma whoami --server http://127.0.0.1:7420"] }],
  store: "none",
  handler: async ({ principal }) => ({ name: principal.name, role: principal.role }),
});
