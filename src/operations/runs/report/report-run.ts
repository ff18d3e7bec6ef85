import { z } from "zod";
import { REPORT_FORMATS, type ReportFormat } from "../../../tell/formats/formats.js";
import { readReportedRun } from "../../../tell/formats/reported-run.js";
import { resolveRun } from "../../../tell/lookup/run-reference.js";
import { operation } from "../../operation.js";
import { flag, runReference } from "../../schemas.js";

const formats = [...(Object.keys(REPORT_FORMATS) as [ReportFormat, ...ReportFormat[]]), "html"] as const;

export const reportRun = operation({
  name: "report_run",
  summary: "write a report of a run as Markdown, JUnit, HTML or GitHub annotations",
  description: "Tells how a run went as JUnit XML, as Markdown, as GitHub annotations or as an HTML page.",
  details:
    "`junit`: each job is a test case; what failed and passed later passes, with its earlier failures in `system-out`; what failed and was handled is skipped. `markdown`: a page with failures, their last lines, what was rescued and the routes taken. `github`: workflow commands, an error for each failure and a warning for each that was handled, and for each step that was rescued. `html`: one file with graph, story, timeline and the logs of what failed, which needs no server and no network; at most about 10 MB, and it says what it leaves out.",
  role: "viewer",
  effect: "reads",
  audience: "people",
  input: z.strictObject({
    run_id: runReference,
    format: z.enum(formats).default("markdown").describe("The form of the report."),
    strict: flag
      .default(false)
      .describe("Report handled failures as failures, also of a run that was not started so."),
  }),
  output: z.object({ run_id: z.number(), format: z.enum(formats), text: z.string() }),
  rest: { method: "GET", path: "/runs/{run_id}/report" },
  cli: [
    {
      words: "report",
      positional: ["run_id"],
      examples: [
        "daruma report last",
        "daruma report 3 --format junit --output results.xml",
        "daruma report last --format html --output run.html",
        "daruma report 3 --format github",
      ],
    },
  ],
  handler: async (context, { run_id, format, strict }) => {
    const { store, outputDir } = context;
    const runId = await resolveRun(store, run_id);
    const run = await readReportedRun(store, outputDir, runId, strict);
    if (format !== "html") return { run_id: runId, format, text: REPORT_FORMATS[format](run) };
    const { htmlReport } = await import("./html-report.js");
    return { run_id: runId, format, text: await htmlReport(context, run) };
  },
});
