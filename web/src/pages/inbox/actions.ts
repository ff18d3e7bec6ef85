import { api, dataOf, Problem as Refusal } from "../../api/client.js";
import type { paths } from "../../api/schema.js";
import type { Kind, Problem } from "../../words/problems.js";
import { count } from "../../words/status.js";

type Request = paths["/api/v1/problems/decide"]["post"]["requestBody"]["content"]["application/json"];
export type ActionName = Request["action"] | "fork";

/** A way to decide. */
export interface Action {
  readonly name: ActionName;
  readonly words: string;
  readonly means: string;
  /** The key that selects it. It never sends anything. */
  readonly key: string | null;
  /** Its text for several problems. */
  readonly wordsOfMany?: string;
  readonly many?: string;
  /** The button's text before the number: "Retry" in 7 runs. */
  readonly verb: string;
  readonly destroys?: true;
  /** The step works again, so that it can be told something. */
  readonly takesHint?: true;
  /** Cannot be used for several problems at once. */
  readonly alone?: true;
}

const RETRY: Action = {
  name: "retry",
  words: "Retry",
  means: "run it again; retries start from zero",
  key: "r",
  verb: "Retry",
  takesHint: true,
};
const COMPLETE: Action = {
  ...{ name: "complete", words: "Complete", means: "mark it as done, with an output you give", key: "c" },
  ...{ verb: "Complete", alone: true },
};
const SKIP: Action = {
  ...{ name: "skip", words: "Skip", means: "go on without it", many: "go on without them" },
  ...{ key: "s", verb: "Skip" },
};
const FAIL: Action = {
  ...{
    name: "fail",
    words: "Let it fail",
    wordsOfMany: "Let them fail",
    means: "give up; the steps after it are canceled",
    key: "x",
    verb: "Let fail",
  },
  destroys: true,
};
const REDRIVE: Action = {
  ...{ name: "redrive", words: "Redrive", means: "back into the queue", key: "r", verb: "Redrive" },
  takesHint: true,
};
const RETRY_STEP: Action = { ...RETRY, words: "Retry step", means: "the run goes on from there" };
const RESUME_FROM: Action = {
  ...{ name: "resume_from", words: "Resume from", means: "go back to a step before it", key: null },
  ...{ verb: "Resume", alone: true, takesHint: true },
};
const FORK: Action = {
  ...{ name: "fork", words: "Fork", means: "a new run, this one stays", key: null, verb: "Fork" },
};
const SET_ASIDE: Action = {
  ...{ name: "set_aside", words: "Set aside", means: "until it fails again", key: "s", verb: "Set aside" },
};
export const HARD_RESET: Action = {
  ...{ name: "hard_reset", words: "Hard reset", means: "in a fresh workspace", key: "h", verb: "Hard reset" },
  takesHint: true,
};

/** The actions for a problem, the most common first. The server decides whether one is allowed. */
export function actionsFor({ kind, status }: Pick<Problem, "kind" | "status">): readonly Action[] {
  switch (kind) {
    case "hold":
      return [RETRY, COMPLETE, SKIP, FAIL];
    case "dead_letter":
      return status === "failed" ? [REDRIVE, RESUME_FROM, FORK] : [REDRIVE, COMPLETE, SKIP, FAIL];
    case "failed":
      return [RETRY_STEP, RESUME_FROM, FORK, SET_ASIDE];
    case "question":
      return [];
  }
}

/** The actions that several problems have in common, without those that only work for one. */
export function commonActions(problems: readonly Pick<Problem, "kind" | "status">[]): readonly Action[] {
  const [first, ...others] = problems.map(actionsFor);
  return (first ?? []).filter(({ name }) =>
    others.every((each) => each.some((other) => other.name === name)),
  );
}

export function needsWorkspace(kind: Kind): boolean {
  return kind === "hold" || kind === "dead_letter";
}

/** The button's text: "Retry in 7 runs", "Set aside 1 failure". */
export function buttonWords({ name, verb }: Action, runs: number, problems = 1): string {
  if (name === "set_aside") return `${verb} ${count(problems, "failure")}`;
  return name === "fork" ? `${verb} ${count(runs, "run")}` : `${verb} in ${count(runs, "run")}`;
}

/** The row's text afterwards: "Retried in 7 runs". */
const DONE: { readonly [name in ActionName]: string } = {
  retry: "Retried",
  complete: "Completed",
  skip: "Skipped",
  fail: "Let fail",
  redrive: "Redriven",
  resume_from: "Resumed",
  hard_reset: "Reset",
  answer: "Answered",
  set_aside: "Set aside",
  fork: "Forked",
};

export function doneWords(name: ActionName, runs: number): string {
  return `${DONE[name]} in ${count(runs, "run")}`;
}

export type Outcome =
  paths["/api/v1/problems/decide"]["post"]["responses"][200]["content"]["application/json"];

/** A decision as it is sent. */
export interface Wish {
  readonly jobs: readonly { readonly job_id: number; readonly run_id: number; readonly step: string }[];
  readonly action: ActionName;
  readonly reason: string;
  /** The output for complete, as it was typed. */
  readonly output?: string;
  readonly choice?: string;
  readonly text?: string;
  readonly step?: string;
  /** For the step that is to work again. */
  readonly hint?: string;
}

/**
 * Sends a decision; the dry run sends the same request. The key belongs to one panel, so a repeated request takes
 * effect only once.
 */
export async function decide(wish: Wish, key: string, dryRun: boolean): Promise<Outcome> {
  if (wish.action === "fork") return forkAll(wish, key, dryRun);
  const body = { ...bodyOf(wish), key: keyOf(wish, key), dry_run: dryRun };
  return dataOf(api.POST("/api/v1/problems/decide", { body }));
}

function bodyOf({ jobs, action, reason, output, choice, text, step, hint }: Wish): Request {
  return {
    jobs: jobs.map(({ job_id }) => job_id),
    action: action as Request["action"],
    ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
    ...(action !== "complete" ? {} : { output: parsed(output ?? "") }),
    ...(choice === undefined ? {} : { choice }),
    ...(text === undefined || text === "" ? {} : { text }),
    ...(step === undefined || step === "" ? {} : { step }),
    ...(hint === undefined || hint.trim() === "" ? {} : { hint: hint.trim() }),
  };
}

/** The key of a request. A key must not be reused for another action or other jobs. */
function keyOf({ action, jobs, choice, step }: Wish, key: string): string {
  return [key, action, hash(JSON.stringify([jobs.map(({ job_id }) => job_id), choice, step]))].join("/");
}

function hash(text: string): string {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return (sum >>> 0).toString(36);
}

/**
 * Parses JSON or plain text. Text that is almost JSON is refused: later steps could not use it, and it cannot be
 * undone.
 */
function parsed(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal({
      ...{ status: 422, code: "INVALID_INPUT", detail: "The output is not JSON" },
      hint: 'Write a value, such as {"rows": 0}, or a text in quotes.',
    });
  }
}

/** Starts a new run for each; the old ones are not changed. */
async function forkAll(wish: Wish, key: string, dryRun: boolean): Promise<Outcome> {
  const results: Outcome["results"] = [];
  for (const { job_id, run_id, step } of wish.jobs) {
    const place = { job_id, run_id, step, scope: null };
    try {
      await dataOf(
        api.POST("/api/v1/runs/{run_id}/fork", {
          params: { path: { run_id } },
          body: {
            step,
            dry_run: dryRun,
            ...(dryRun ? {} : { key: `${key}/fork/${run_id}` }),
            ...(wish.reason === "" ? {} : { reason: wish.reason }),
          },
        }),
      );
      results.push({ ...place, ok: true, error: null });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status >= 500) throw error;
      results.push({ ...place, ok: false, error: { code: error.code, message: error.message } });
    }
  }
  return { applied: !dryRun, dry_run: dryRun, key, results, runs: [] };
}
