import { z } from "zod";
import { operation } from "../operation.js";
import { ROLES } from "../roles.js";

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
  withoutStore: "unread",
  handler: async ({ principal }) => ({ name: principal.name, role: principal.role }),
});
