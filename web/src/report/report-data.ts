import type { LineItem } from "../log/line-store.js";
import type { LogStreamName } from "../log/line-window.js";
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

export interface FailedLog {
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly standing: "failed" | "held" | "handled" | "rescued" | "open";
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly streams: readonly ShownStream[];
}

export interface ShownStream {
  readonly stream: LogStreamName;
  readonly total: number;
  readonly size: number;
  readonly truncated: boolean;
  readonly items: readonly LineItem[];
}

/** Text, not code: nothing in it is ever run. */
export function readReport(): ReportData {
  return JSON.parse(document.getElementById("report")!.textContent) as ReportData;
}
