import type { FailedLog } from "../../../src/report/formats/failed-log.js";
import type { Drawing, RunStory, RunSummary, TimelineData } from "../pages/run/run-data.js";

/** What `report_run` puts into the page, in the forms that the server answers with. */
export interface ReportData {
  readonly made_at: string;
  readonly run: RunSummary;
  readonly story: Pick<RunStory, "recoveries">;
  readonly timeline: TimelineData;
  readonly graph: Drawing | null;
  readonly logs: readonly FailedLog[];
  readonly left_out: { readonly [part in "graph" | "story" | "timeline" | "logs"]: string | null };
}

/** Text, not code: nothing in it is ever run. */
export function readReport(): ReportData {
  return JSON.parse(document.getElementById("report")!.textContent) as ReportData;
}
