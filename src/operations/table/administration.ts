import { z } from "zod";
import { iso } from "../../report/run-report.js";
import { operation } from "../operation.js";
import { ROLES } from "../roles.js";
import { createToken, revokeToken, tokenItem } from "../tokens.js";
import { name } from "./schemas.js";

export const listWorkers = operation({
  name: "list_workers",
  summary: "list the workers that are connected to the server",
  description:
    "Lists the workers that the server can hand attempts to, with their resources, tags, when they were last heard of and what they work on. A command line without a server has none.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({
    items: z.array(
      z.object({
        name: z.string(),
        slots: z.number(),
        used: z.number(),
        cpus: z.number(),
        memory_bytes: z.number().nullable(),
        tags: z.array(z.string()),
        draining: z.boolean(),
        last_seen_at: z.string(),
        attempts: z.array(z.object({ job_id: z.number(), attempt: z.number() })),
      }),
    ),
  }),
  rest: { method: "GET", path: "/workers" },
  cli: [{ words: "workers", positional: [], examples: ["daruma workers --server http://127.0.0.1:7420"] }],
  withoutStore: "empty",
  handler: async ({ runner }) => ({
    items: (runner?.listWorkers() ?? []).map((worker) => ({
      ...worker,
      tags: [...worker.tags],
      attempts: worker.attempts.map((each) => ({ ...each })),
      last_seen_at: iso(worker.last_seen_at),
    })),
  }),
});

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

export const createTokenOperation = operation({
  name: "create_token",
  summary: "make a token for the server; it is shown once",
  description:
    "Makes a token with a role: viewer reads, operator also starts and steers runs, worker only executes attempts, admin may do everything. The token is shown once, in this answer; only its hash is kept.",
  role: "admin",
  effect: "changes",
  input: z.strictObject({
    name: name
      .refine((text) => !INVISIBLE.test(text), "must have no invisible characters")
      .describe("Whose it is; it stands in the log of what was done with it."),
    role: z.enum(ROLES).describe("What it may do."),
    expires_in: z
      .string()
      .max(40)
      .optional()
      .describe("A duration such as 12h or 30d; by default it does not expire."),
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
  withoutStore: "new",
  handler: (context, input) => createToken(context, input),
});

export const listTokens = operation({
  name: "list_tokens",
  summary: "list tokens, never their text",
  description: "Lists the tokens that were made, with role, expiry and revocation. Their text is not kept.",
  role: "admin",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({ items: z.array(token) }),
  rest: { method: "GET", path: "/tokens" },
  cli: [{ words: "token list", positional: [], examples: ["daruma token list"] }],
  withoutStore: "empty",
  handler: async ({ store }) => ({ items: (await store.listTokens()).map(tokenItem) }),
});

export const revokeTokenOperation = operation({
  name: "revoke_token",
  summary: "make a token worthless",
  description:
    "Revokes a token: from now on the server refuses it. `revoked` is false if it was revoked before.",
  role: "admin",
  effect: "destroys",
  input: z.strictObject({ id: z.coerce.number().int().positive().describe("The token's id, not its text.") }),
  output: z.object({ id: z.number(), revoked: z.boolean() }),
  rest: { method: "DELETE", path: "/tokens/{id}" },
  cli: [{ words: "token revoke", positional: ["id"], examples: ["daruma token revoke 2"] }],
  handler: (context, { id }) => revokeToken(context, id),
});
