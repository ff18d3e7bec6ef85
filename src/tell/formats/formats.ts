import { githubText } from "./github.js";
import { junitText } from "./junit.js";
import { markdownText } from "./markdown.js";
import type { ReportedRun } from "./reported-run.js";

/** Forms in which others read how a run went. */
export const REPORT_FORMATS = {
  junit: junitText,
  markdown: markdownText,
  github: githubText,
} as const satisfies { readonly [format: string]: (run: ReportedRun) => string };

export type ReportFormat = keyof typeof REPORT_FORMATS;
