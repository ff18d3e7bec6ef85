import { DarumaError } from "../../../core/errors/errors.js";
import type { HoldAction } from "../../../core/model/events.js";
import type { Json } from "../../../core/text/json.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import { throwFirstError } from "../../../operations/jobs/throw-first-error.js";
import { DEFAULT_REASON } from "../../../operations/operator-words.js";
import { isGlob, isMeant } from "../../../tell/lookup/choose-job.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import type { RunReference } from "../../../tell/lookup/run-reference.js";
import type { Given, Present } from "../../declare/declaration.js";
import { jobPlace, withScope } from "../../declare/typed-names.js";
import type { GoOnFlags } from "../../go-on-here.js";
import { changeText, goingOn, tellAndGoOn } from "../../print-change.js";
import { topRunOf } from "../../remote/who-goes-on.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { failureLines } from "../look/failures.js";
import { choosesByFailure, chosenHere, refuseCampaignFlags, startFiltered } from "./campaign.js";
import { hintNotes, tellHintNotes } from "./hint-note.js";

interface ResolveFlags extends GoOnFlags {
  readonly all?: boolean;
  readonly scope?: string;
  readonly retry?: boolean;
  readonly fail?: boolean;
  readonly skip?: boolean;
  readonly complete?: string;
  readonly memory?: string;
  readonly runtime?: string;
  readonly hint?: string;
  readonly dryRun?: boolean;
  readonly reason?: string;
  readonly key?: string;
}

/** Decides holds: all those named in one call, or none of them. */
export const resolveHolds: Present = async (given, session, client) => {
  const flags = given.flags as ResolveFlags;
  const [run, named = []] = given.args as [RunReference | undefined, string[] | undefined];
  const action = chosenAction(flags);
  const isChosen = named.length === 0 && choosesByFailure(given.flags);
  const chosen = isChosen ? await chosenHere(client, run, given.flags, { kind: ["hold"] }) : null;
  if (isChosen && chosen === null) return decideMany(given, session, client, { action, run_id: run });
  if (chosen === null) refuseCampaignFlags(given.flags);
  const names = chosen ?? named;
  if (run === undefined)
    throw new DarumaError(
      "USAGE",
      "name a run and the jobs to resolve, or choose holds with --signature, --workflow, --step, --class or --since",
      {
        hint: "`daruma holds` lists what can be resolved.",
      },
    );
  const output = flags.complete === undefined ? null : givenJson("--complete", flags.complete);
  if ((names.length === 0) !== (flags.all === true))
    throw new DarumaError("USAGE", "name the jobs to resolve, or add --all", {
      hint: `\`daruma holds ${run}\` lists what can be resolved.`,
    });
  const jobs =
    names.length === 0 ? await heldJobs(client, run) : await namedJobs(client, run, names, flags.scope);
  const reason = flags.reason ?? DEFAULT_REASON;
  const request = {
    // Job ids identify their run. With a run they would first be looked up as names of its steps.
    ...(names.length === 0 ? {} : { run_id: run }),
    classifications: jobs.map((job_id) => ({ job_id, action, reason, output, ...moreOf(flags) })),
    dry_run: flags.dryRun === true,
    key: flags.key,
  };
  const notes = await hintNotes(session, client, run, flags.hint);
  const answer = await client.call("resolve_holds", request).catch(throwRefusedAlone);
  throwFirstError(answer);
  tellHintNotes(session, notes, ({ id }) => answer.results.some(({ job_id }) => job_id === id));
  const { key, dry_run } = answer;
  const said = answer.results[0]!.reason;
  return tellAndGoOn(
    session,
    client,
    { ...answer.runs[0]!, action: `resolve.${action}`, reason: said, key, dry_run },
    `resolved by ${action}: ${said}`,
    flags,
  );
};

/** Decides by a campaign, which takes only holds. */
function decideMany(
  given: Given,
  session: Session,
  client: Client,
  { action, run_id }: { readonly action: HoldAction; readonly run_id: RunReference | undefined },
): Promise<number> {
  if (action === "complete")
    throw new DarumaError("USAGE", "--complete is for jobs that are named", {
      hint: "Name the jobs: the same output seldom fits all of them.",
    });
  return startFiltered(given, session, client, { action, kind: ["hold"], run_id });
}

function moreOf({ memory, runtime, hint }: ResolveFlags): Pick<ResolveFlags, "memory" | "runtime" | "hint"> {
  return {
    ...(memory === undefined ? {} : { memory }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** If a single job is refused, throws its own refusal, which says everything. */
function throwRefusedAlone(error: unknown): never {
  const results = error instanceof DarumaError ? error.details.results : undefined;
  if (Array.isArray(results) && results.length === 1)
    throwFirstError({ results: results as Parameters<typeof throwFirstError>[0]["results"] });
  throw error;
}

/** The named jobs. A pattern selects the held ones among them, as with `retry` it selects those that can run again. */
async function namedJobs(
  client: Client,
  reference: RunReference,
  names: readonly string[],
  scope: string | undefined,
): Promise<(number | string)[]> {
  const named = names.filter((name) => !isGlob(name)).map((name) => withScope(name, scope));
  if (named.length === names.length) return named;
  const holds = await listHeld(client, reference);
  const found = new Set<number | string>(named);
  for (const glob of names.filter(isGlob)) {
    const fits = holds.filter((held) => isMeant(held, glob));
    if (fits.length === 0)
      throw new DarumaError("NOT_HELD", `no step like ${glob} is held`, {
        hint: `\`daruma holds ${reference}\` lists what can be resolved.`,
      });
    for (const { id } of fits) found.add(id);
  }
  return [...found];
}

async function listHeld(client: Client, reference: RunReference) {
  const { items } = await client.call("list_holds", { run_id: reference });
  return items.filter(({ kind }) => kind === "hold");
}

async function heldJobs(client: Client, reference: RunReference): Promise<number[]> {
  const holds = await listHeld(client, reference);
  if (holds.length === 0) {
    const { run_id } = await client.call("get_run_definition", { run_id: reference });
    throw new DarumaError("NOT_HELD", `run ${run_id} has no holds`);
  }
  return holds.map(({ id }) => id);
}

function chosenAction(flags: ResolveFlags): HoldAction {
  const chosen = (["retry", "fail", "skip", "complete"] as const).filter((action) => {
    const flag = flags[action];
    return flag !== undefined && flag !== false;
  });
  if (chosen.length !== 1)
    throw new DarumaError("USAGE", "add exactly one of --retry, --fail, --skip and --complete", {
      hint: "See `daruma resolve --help`.",
    });
  return chosen[0]!;
}

interface AnswerFlags extends GoOnFlags {
  readonly choose: string;
  readonly text?: string;
  readonly scope?: string;
  readonly reason?: string;
  readonly key?: string;
  readonly dryRun?: boolean;
}

/** Answers a human step. */
export const answer: Present = async ({ args, flags }, session, client) => {
  const { choose, text, scope, reason, key, dryRun } = flags as unknown as AnswerFlags;
  const place = jobPlace(args[0] as string[], scope);
  const given = await client.call("answer_job", {
    ...place,
    choice: choose,
    text,
    reason,
    key,
    dry_run: dryRun,
  });
  return tellAndGoOn(
    session,
    client,
    { ...given, action: "answer" },
    `${nameOf(given.step, given.scope)} is answered: ${choose}`,
    flags,
  );
};

type Answer = OutputOf<"decide_problems">;
type Action = InputOf<"decide_problems">["action"];

const DONE: { readonly [action in Action]: string } = {
  retry: "retried",
  complete: "completed",
  skip: "skipped",
  fail: "let fail",
  redrive: "redriven",
  resume_from: "resumed",
  hard_reset: "reset in a fresh workspace",
  answer: "answered",
  set_aside: "set aside until it fails again",
};
const MAX_RUNS_TOLD = 20;

/** Decides problems of the inbox, and reports what became of each run. */
export const decide: Present = async ({ input }, session, client) => {
  const { out, options } = session;
  const given = input as InputOf<"decide_problems">;
  const { output } = given;
  const request = typeof output === "string" ? { ...given, output: givenJson("--output", output) } : given;
  const answer = await client.call("decide_problems", request);
  if (options.json) {
    writeJson(out, answer);
    return 0;
  }
  if (options.quiet) return 0;
  const lines = [sentenceOf(answer, request.action)];
  for (const run of answer.runs.slice(0, MAX_RUNS_TOLD)) {
    const changes = run.changed.map(changeText).join(", ");
    lines.push(`  run ${run.run_id}: ${changes === "" ? run.status : changes}`);
    if (answer.dry_run) continue;
    const top = await topRunOf(client, run.run_id);
    for (const line of goingOn(run, { ...top, options })) lines.push(`    ${line}`);
  }
  const more = answer.runs.length - MAX_RUNS_TOLD;
  if (more > 0) lines.push(`  … and ${more} more runs`);
  for (const { job_id, ok, error } of answer.results)
    if (!ok) lines.push(`  job ${job_id}: refused, ${error!.message} (${error!.code})`);
  writeLines(out, lines);
  return 0;
};

function sentenceOf({ results, dry_run }: Answer, action: Action): string {
  const jobs = `${results.length} job${results.length === 1 ? "" : "s"}`;
  if (!dry_run) return `${jobs} ${DONE[action]}`;
  const refused = results.filter(({ ok }) => !ok).length;
  if (refused > 0) return `dry run; nothing would change: ${refused} of ${jobs} would be refused`;
  return `dry run; nothing changed. ${jobs} would be ${DONE[action]}:`;
}

/**
 * Reads a flag's value, which may be JSON or plain text. Text that is almost JSON is refused, because later steps could
 * not use it.
 */
function givenJson(flag: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new DarumaError("USAGE", `${flag}: invalid JSON: ${(error as Error).message}`, {
      hint: `Write a JSON value, such as ${flag} '{"version": 7}' or ${flag} '"done"'.`,
      cause: error,
    });
  }
}

/** Records a note about a failure and prints its new state. */
export const triage: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("triage_failure", input as InputOf<"triage_failure">);
  if (options.json) writeJson(out, answer);
  else writeLines(out, answer.items.flatMap(failureLines));
  return 0;
};
