import type { InputOf, OutputOf } from "../../../operations/client.js";
import { nameOf } from "../../../report/lookup/job-name.js";
import { shellWord } from "../../../report/words/shell-word.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

const HEADER = ["action", "now", "command, or why not"];

type Answer = OutputOf<"list_controls">;
type Control = Answer["items"][number];

/** What to type for each action. */
const COMMANDS: {
  readonly [action in Control["action"]]: (run: number, job: string, step: string) => string;
} = {
  pause: (run) => `pause ${run}`,
  resume: (run) => `resume ${run}`,
  cancel: (run) => `cancel ${run}`,
  takeover: (run) => `takeover ${run}`,
  retry_step: (run, job) => `retry ${run} ${job}`,
  hard_reset_step: (run, job) => `hard-reset ${run} ${job}`,
  resume_from_step: (run, job) => `resume-from ${run} ${job}`,
  reset_failed: (run) => `reset ${run}`,
  cancel_now: (run) => `cancel ${run} --now`,
  fork: (run, _job, step) => `fork ${run} --from ${step}`,
  redrive: (run, job) => `redrive ${run} ${job}`,
  complete: (run, job) => `resolve ${run} ${job} --complete JSON`,
  skip: (run, job) => `resolve ${run} ${job} --skip`,
  fail: (run, job) => `resolve ${run} ${job} --fail`,
};

/** What can be done with a run or a step, and why the rest cannot. */
export const controls: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_controls", input as InputOf<"list_controls">);
  if (options.json) {
    writeJson(out, answer);
    return 0;
  }
  const { run_id: run, target } = answer;
  const [job, step] =
    target === null
      ? ["STEP", "STEP"]
      : [shellWord(nameOf(target.step, target.scope)), shellWord(target.step)];
  const row = ({ action, allowed, needs_force, reason, code }: Control): string[] => {
    // Only this command has no runner: `daruma resume` and `daruma fork` bring their own.
    if (!allowed && !needs_force && code !== "NO_RUNNER")
      return [action, "no", `${reason ?? ""}${code === null ? "" : ` (${code})`}`];
    return [
      action,
      "yes",
      commandLine(options, COMMANDS[action](run, job, step) + (needs_force ? " --force" : "")),
    ];
  };
  const more =
    target === null ? [`for the actions on a step: ${commandLine(options, `controls ${run} STEP`)}`] : [];
  writeLines(out, [...tableLines(HEADER, answer.items.map(row), out.width()), ...more]);
  return 0;
};
