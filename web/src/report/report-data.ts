import type { FailedLog } from "../../../src/tell/formats/reported-run.js";
import type { Drawing, RunStory, RunSummary, TimelineData } from "../pages/run/run-data.js";

/** The data that `report_run` puts into the page, in the same forms as the server's answers. */
export interface ReportData {
  readonly made_at: string;
  readonly run: RunSummary;
  readonly story: Pick<RunStory, "recoveries">;
  readonly timeline: TimelineData;
  readonly graph: Drawing | null;
  readonly logs: readonly FailedLog[];
  readonly left_out: { readonly [part in "graph" | "story" | "timeline" | "logs"]: string | null };
}

/** Reads the data, which is text in the page and is never executed. */
export function readReport(): ReportData {
  return JSON.parse(document.getElementById("report")!.textContent) as ReportData;
}
