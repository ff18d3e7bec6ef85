import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { messageOf } from "../../core/text/message-of.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { flag } from "../schemas.js";
import { type Check, type CheckRequest, error, type Finding } from "./check.js";
import { checkFiles } from "./check-files.js";
import { checkGroups } from "./check-groups.js";
import {
  checkClock,
  checkDisk,
  checkNeeds,
  checkScratch,
  checkSettings,
  checkVersions,
} from "./check-machine.js";
import { checkRetention, checkServers, checkWorkers } from "./check-servers.js";
import { checkLeases, checkStore } from "./check-store.js";

/** What does not need the store comes first. */
const CHECKS: readonly Check[] = [
  ...[checkVersions, checkSettings, checkStore, checkDisk, checkFiles, checkScratch],
  ...[checkClock, checkLeases, checkGroups, checkServers, checkWorkers, checkRetention, checkNeeds],
];
/** They would ask an empty store where the real one cannot be opened. */
const OF_THE_STORE: ReadonlySet<Check> = new Set([
  ...[checkClock, checkLeases, checkGroups, checkServers, checkWorkers, checkRetention, checkNeeds],
]);

const status = z.enum(["ok", "warning", "error"]);

export const checkHealth = operation({
  name: "check_health",
  summary: "check the store, the disk, the machine and the servers, and say what to do",
  description:
    "Checks the database, the disk, permissions, the temporary folder, clock, leases, groups, servers, workers, retention, settings and what workflows need, and says for each what is wrong and what to do. Nothing is changed.",
  details:
    "`status` is the worst of all. A check that could not be made is an error. A database of more than 1 GiB is looked through only with `full`.",
  audience: "people",
  role: "admin",
  effect: "reads",
  input: z.strictObject({
    full: flag.default(false).describe("Look through the whole database, however long that takes."),
  }),
  output: z.object({
    status,
    checks: z.array(
      z.object({
        name: z.string(),
        status,
        message: z.string(),
        fix: z.string().nullable().describe("What to do; null where nothing is to be done."),
      }),
    ),
  }),
  rest: { method: "GET", path: "/doctor" },
  cli: [
    {
      words: "doctor",
      positional: [],
      examples: ["daruma doctor", "daruma doctor --json", "daruma doctor --server http://127.0.0.1:7420"],
    },
  ],
  store: "inspect",
  handler: examine,
});

async function examine(context: Context, request: CheckRequest) {
  // Asked once: to look through a large database takes a while.
  const looked = await context.inspectStore?.(request.full);
  const place: Context = looked === undefined ? context : { ...context, inspectStore: async () => looked };
  const canAsk = looked === undefined || looked.isOpen;
  const checks: (Finding & { readonly name: string })[] = [];
  for (const check of CHECKS) {
    if (!canAsk && OF_THE_STORE.has(check)) continue;
    const findings = await findingsOf(check, place, request);
    checks.push(...findings.map((finding) => ({ name: check.name, ...finding })));
  }
  const worst = (["error", "warning"] as const).find((each) => checks.some((check) => check.status === each));
  return { status: worst ?? ("ok" as const), checks };
}

async function findingsOf(
  check: Check,
  context: Context,
  request: CheckRequest,
): Promise<readonly Finding[]> {
  try {
    return await check.run(context, request);
  } catch (thrown) {
    const fix =
      thrown instanceof DarumaError
        ? thrown.hint
        : "Look at the message; the log of the server may say more.";
    return [error(`it could not be checked: ${messageOf(thrown)}`, fix)];
  }
}
