import { DarumaError } from "../../../core/errors/errors.js";
import { counted } from "../../../core/text/amount-text.js";
import type { OutputOf } from "../../../operations/client.js";
import { MAX_DIFFERENCES } from "../../../operations/reuse/diff-run.js";
import { listNames, nameOf } from "../../../tell/lookup/job-name.js";
import { openClient } from "../../remote/open-client.js";
import { whatToRun } from "../../remote/what-to-run.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { type RunFlags, readContext, readInputs, reused } from "./run-flags.js";

type Difference = OutputOf<"diff_run">;
type PlannedJob = Difference["jobs"][number];

const INDENT = "  ";
/** How many reasons get a line of their own. */
const MAX_REASONS = 20;

/** Prints what `run --reuse` would do. Nothing is run or recorded. */
export async function planReuse(file: string, flags: RunFlags, session: Session): Promise<number> {
  if (flags.reuse === undefined)
    throw new DarumaError("USAGE", "--dry-run needs --reuse: without it every step runs", {
      hint: "To check the file: `daruma validate FILE`.",
    });
  const { out, options } = session;
  const client = await openClient(options);
  try {
    const difference = await client.call("diff_run", {
      ...whatToRun(file, flags, options),
      inputs: readInputs(flags.input ?? []),
      context: flags.context === undefined ? {} : readContext(flags.context),
      reuse: reused(flags.reuse),
      ...(flags.keepStoodIn === true ? { keep_stood_in: true } : {}),
      max_jobs: MAX_DIFFERENCES,
    });
    if (options.json) writeJson(out, difference);
    else writeLines(out, differenceLines(difference));
    return 0;
  } finally {
    await client.close();
  }
}

function differenceLines({ workflow, from_run: from, take_over, run, decide, jobs }: Difference): string[] {
  if (from === null)
    return [`there is no ended run of ${workflow} to compare with; ${counted(run, "job runs", "jobs run")}`];
  const total = take_over + run + decide;
  return [
    `compared with run ${from}: ${take_over} of ${counted(total, "job")} taken over, ${run} to run`,
    ...reasonLines(jobs.filter(({ verdict }) => verdict === "run")),
    ...listed(
      jobs.filter(({ verdict }) => verdict === "decide"),
      "skipped then, decided again",
    ),
  ];
}

/** First the jobs that changed themselves, one line per reason, then those that only follow from them. */
function reasonLines(jobs: readonly PlannedJob[]): string[] {
  const byReason = new Map<string, PlannedJob[]>();
  const following: PlannedJob[] = [];
  for (const job of jobs) {
    if (job.why?.kind === "dependency" || job.why?.kind === "routing") following.push(job);
    else groupOf(byReason, job.reason ?? "").push(job);
  }
  const groups = [...byReason];
  const more = groups.slice(MAX_REASONS).flatMap(([, group]) => group);
  return [
    ...groups
      .slice(0, MAX_REASONS)
      .map(
        ([reason, group]) =>
          `${INDENT}${listNames(group, ({ step, scope }) => nameOf(step, scope))}: ${reason}`,
      ),
    ...listed(more, "for other reasons"),
    ...listed(following, following.length === 1 ? "follows from these" : "follow from these"),
  ];
}

function listed(jobs: readonly PlannedJob[], what: string): string[] {
  if (jobs.length === 0) return [];
  return [`${INDENT}${jobs.length} ${what}: ${listNames(jobs, ({ step, scope }) => nameOf(step, scope))}`];
}

function groupOf(groups: Map<string, PlannedJob[]>, reason: string): PlannedJob[] {
  const group = groups.get(reason) ?? [];
  groups.set(reason, group);
  return group;
}
