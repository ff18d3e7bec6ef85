import { z } from "zod";
import { exportRun } from "../exchange/export-run.js";
import { importRun } from "../exchange/import-run.js";
import { operation } from "../operation.js";
import { pruneRuns } from "../runs/prune.js";
import { flag, listOf, runReference, runStatus } from "./schemas.js";

const finalStatus = z.enum(["completed", "failed", "canceled"]);

export const pruneRunsOperation = operation({
  name: "prune_runs",
  summary: "remove runs that ended long ago, with their logs and artifacts",
  description:
    "Removes runs that are over and ended before the given age, for ever: their log, jobs, output files and artifacts. A run that is not over is never removed, nor one from which such a run was forked. A run that was imported ended when it ended elsewhere, not when it came here. With `dry_run` nothing is removed.",
  role: "admin",
  effect: "destroys",
  input: z.strictObject({
    older_than: z
      .string()
      .max(40)
      .describe("A duration such as 12h or 30d: ended longer ago than that. 0s: every run that is over."),
    status: listOf(finalStatus).optional().describe("Only runs of these statuses, separated by commas."),
    dry_run: flag.default(false).describe("Only say which runs would be removed."),
  }),
  output: z.object({
    dry_run: z.boolean(),
    ended_before: z.string(),
    removed: z.array(
      z.object({ run_id: z.number(), workflow: z.string(), status: runStatus, finished_at: z.string() }),
    ),
    kept: z.array(z.object({ run_id: z.number(), because: z.string() })),
  }),
  rest: { method: "POST", path: "/prune" },
  cli: [
    {
      words: "prune",
      positional: [],
      examples: [
        "daruma prune --older-than 30d --dry-run",
        "daruma prune --older-than 7d --status completed",
      ],
    },
  ],
  handler: (context, input) => pruneRuns(context, input),
});

/** What `export_run` writes and `import_run` reads. */
const document = z.looseObject({ format: z.string(), version: z.number() });

export const exportRunOperation = operation({
  name: "export_run",
  summary: "write a run as one document, to keep it or to look at it elsewhere",
  description:
    "One JSON document with a run's frozen definition, its whole log and, by default, its logs and artifacts. Files beyond the limit are left out and listed in `left_out`. Everything else of a run follows from its log.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    files: flag.default(true).describe("Also what attempts printed, and artifacts."),
  }),
  output: document,
  rest: { method: "GET", path: "/runs/{run_id}/export" },
  cli: [
    {
      words: "export",
      positional: ["run_id"],
      examples: ["daruma export 3 > run-3.json", "daruma export last --no-files"],
    },
  ],
  handler: async (context, input) => ({ ...(await exportRun(context, input)) }),
});

export const importRunOperation = operation({
  name: "import_run",
  summary: "take in a run that was exported elsewhere, under a new number",
  description: "Takes in a document of export_run as a run with a new number, which can only be read.",
  details:
    "Its log is replayed and checked; a document of another version, or one that is not what export_run wrote, is refused. The run stays as it was and can only be read: it cannot be resumed, retried, decided, applied or forked from (IMPORTED_RUN), and its workflow is not started by name. Its times are those of where it ran, so that prune_runs counts its age from its end there; cancel lets one that is not over be pruned. `finished_at` in the answer is that end.",
  role: "admin",
  effect: "changes",
  makesRun: true,
  input: z.strictObject({ document: document.describe("What export_run wrote.") }),
  output: z.object({
    run_id: z.number(),
    exported_run_id: z.number(),
    workflow: z.string(),
    status: runStatus,
    finished_at: z.string().nullable(),
    events: z.number(),
    files: z.number(),
  }),
  rest: { method: "POST", path: "/imports", status: 201 },
  cli: [
    {
      words: "import",
      positional: [],
      examples: ["daruma import run-3.json", "daruma import - < run-3.json"],
    },
  ],
  withoutStore: "new",
  handler: (context, input) => importRun(context, input.document),
});
