import { readFileSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";
import { iso } from "../../../core/text/iso-time.js";
import { builtFile } from "../../../run/process/package-folder.js";
import { markdownText } from "../../../tell/formats/markdown.js";
import type { FailedLog, ReportedRun } from "../../../tell/formats/reported-run.js";
import type { Context } from "../../context.js";
import type { Answer } from "../../operation.js";
import { getTimeline } from "../../timeline/get-timeline.js";
import { workflowGraph } from "../../workflows/workflow-graph.js";
import { explainRun } from "../explain-run.js";
import { getRun } from "../get-run.js";
import { bytesOf, embedReport, fitting } from "./embed-report.js";
import { failedLogs } from "./failed-logs.js";

type Graph = NonNullable<Answer<typeof workflowGraph.output>["graph"]>;
type RunDetails = Answer<typeof getRun.output>;

/** What the page reads; web/src/report/report-data.ts has the same in its own words. */
interface ReportData {
  readonly made_at: string;
  readonly run: RunDetails;
  readonly story: { readonly recoveries: Answer<typeof explainRun.output>["recoveries"] };
  readonly timeline: Answer<typeof getTimeline.output>;
  /** Null if it is too large for a report. */
  readonly graph: Graph | null;
  readonly logs: readonly FailedLog[];
  /** What was left out, in a sentence; null: nothing. */
  readonly left_out: { readonly [part in Part]: string | null };
}

type Part = "graph" | "story" | "timeline" | "logs";

const MAX_GRAPH_BYTES = 2_500_000;
const MAX_STORY_BYTES = 1_000_000;
const MAX_TIMELINE_BYTES = 2_000_000;
const MAX_OUTCOMES_BYTES = 300_000;

/** One page of a run that needs nothing but a browser. */
export async function htmlReport(context: Context, run: ReportedRun): Promise<string> {
  const { run_id, workflow } = run.summary.report;
  const title = `${workflow} #${run_id}`;
  const page = embedReport(readTemplate(), {
    title,
    plain: markdownText(run),
    data: await reportData(context, run_id),
  });
  if (page === null) throw new DarumaError("INTERNAL", "the page of reports has no room for a run");
  return page;
}

async function reportData(context: Context, runId: number): Promise<ReportData> {
  const ask = { run_id: runId };
  const details = await getRun.handler(context, { ...ask, jobs: "none" });
  const { recoveries } = await explainRun.handler(context, { ...ask, full: false });
  const timeline = await getTimeline.handler(context, ask);
  const { graph } = await workflowGraph.handler(context, { ...ask, format: "json", file_name: "run" });
  const logs = await failedLogs(context, runId);
  const shown = {
    run: runOf(details),
    recoveries: fitting(recoveries, MAX_STORY_BYTES),
    rows: rowsOf(timeline.rows),
    graph: graphOf(graph!),
  };
  return {
    made_at: iso(context.now()),
    run: { ...shown.run, recoveries: details.recoveries.slice(0, shown.recoveries.length) },
    story: { recoveries: shown.recoveries },
    timeline: { ...timeline, rows: shown.rows },
    graph: shown.graph,
    logs: logs.shown,
    left_out: {
      graph: shown.graph === null ? "The graph of this run is too large for a report." : null,
      story: ofAll("recoveries", shown.recoveries.length, recoveries.length),
      timeline: ofAll("steps", shown.rows.length, timeline.rows.length),
      logs: ofAll("attempts that failed", logs.shown.length, logs.all),
    },
  };
}

function ofAll(what: string, shown: number, all: number): string | null {
  return shown === all ? null : `This report has ${shown} of ${all} ${what}.`;
}

/** The logs of failures are shown elsewhere in the report, and where files lie is nobody's business who has only it. */
function runOf(details: RunDetails): RunDetails {
  const { failures, holds, counts } = details.summary;
  const outcomes = failures.map((failure) => ({
    ...failure,
    ...{ stdout_tail: null, stderr_tail: null, stdout_file: null, stderr_file: null },
  }));
  return {
    ...details,
    ...{ jobs: [], routes: [], usage: [], state: null, diagnostics: [] },
    handled_failures: fitting(details.handled_failures, MAX_OUTCOMES_BYTES),
    summary: {
      counts,
      failures: fitting(outcomes, MAX_OUTCOMES_BYTES),
      holds: fitting(holds, MAX_OUTCOMES_BYTES),
      reuse_file: null,
      ways_back: [],
      endings: [],
    },
  };
}

type Row = Answer<typeof getTimeline.output>["rows"][number];

/** Steps that failed are kept first, in the order of the run. */
function rowsOf(rows: readonly Row[]): readonly Row[] {
  if (bytesOf(rows) <= MAX_TIMELINE_BYTES) return rows;
  const byNeed = [...rows].sort((one, other) => Number(other.failed > 0) - Number(one.failed > 0));
  const kept = new Set(fitting(byNeed, MAX_TIMELINE_BYTES));
  return rows.filter((row) => kept.has(row));
}

/** A large one without the items of its fan-outs, a very large one not at all. */
function graphOf(graph: Graph): Graph | null {
  if (bytesOf(graph) <= MAX_GRAPH_BYTES) return graph;
  const nodes = graph.nodes.map((node) => ({ ...node, jobs: node.jobs && { ...node.jobs, cells: [] } }));
  const smaller = { ...graph, nodes };
  return bytesOf(smaller) <= MAX_GRAPH_BYTES ? smaller : null;
}

function readTemplate(): string {
  const file = builtFile("report.html");
  try {
    return readFileSync(file ?? "report.html", "utf8");
  } catch (error) {
    throw new DarumaError("INTERNAL", "the page of reports is not built", {
      cause: error,
      hint: "Run `npm run build`, or install the package again.",
    });
  }
}
