import type { paths } from "../../api/schema.js";
import type { Kind, Problem } from "../../words/problems.js";
import { count } from "../../words/status.js";

export type Request = paths["/api/v1/problems/decide"]["post"]["requestBody"]["content"]["application/json"];
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
