import type { AttemptElsewhere, EventOf } from "../../core/model/events.js";
import { amountText } from "../../core/model/resources.js";
import { jobById, type Run } from "../../core/model/run.js";
import { expiryOf } from "../../core/notices/expiry.js";
import { counted } from "../../core/text/amount-text.js";
import { jobNames } from "../lookup/job-name.js";
import { hintFacts, unheardText } from "./attempt-words.js";
import { decisionText, personIn } from "./decided-text.js";
import { because, nameIn, quote, short, steered, type Told, told, type WordsOf } from "./event-words.js";
import { untilText } from "./expiry-text.js";
import { type NewNote, note, runNote } from "./note.js";
import { cost, fact, type Sentence } from "./sentence.js";
import { type CommandText, shellWord } from "./shell-word.js";

type OperatorEvents =
  | "run.cancel_requested"
  | "run.paused"
  | "run.unpaused"
  | "run.reopened"
  | "run.forked"
  | "job.reused"
  | "hold.resolved"
  | "jobs.retried"
  | "operator.goto"
  | "human.asked"
  | "human.answered";

/** What people decide about a run, and what it asks of them. */
export const OPERATOR_WORDS: WordsOf<OperatorEvents> = {
  "run.cancel_requested": {
    note: ({ reason, now }) =>
      note("canceled", `cancel requested${now === true ? " (at once)" : ""}: ${short(reason)}`),
    runStory: ({ reason, code, now }, when) =>
      code === undefined
        ? `Somebody canceled it ${when}${now === true ? ", without undo and finally steps" : ""}${because(reason)}.`
        : `It was canceled ${when} (${code}): ${reason}.`,
  },
  "run.paused": {
    note: ({ takeover, reason }, run) =>
      runNote("operator", run, `is ${takeover ? "taken over" : "paused"}: ${short(reason)}`),
    story: ({ job, hint }) => (job === undefined ? [] : steered(job, ...hinted(hint))),
    runStory: ({ takeover, reason }, when) =>
      `Somebody ${takeover ? "took it over" : "paused it"} ${when}${because(reason)}: nothing new was started.`,
  },
  "run.unpaused": {
    note: ({ reason }, run) => runNote("operator", run, `goes on: ${short(reason)}`),
    runStory: ({ reason }, when) => `The pause was lifted ${when}${because(reason)}.`,
  },
  "run.reopened": {
    note: ({ reason }, run) => runNote("operator", run, `is reopened: ${short(reason)}`),
    runStory: ({ reason }, when) => `Somebody reopened it ${when}${because(reason)}.`,
  },
  "run.forked": {
    note: ({ from, step, reuse }, run) =>
      runNote(
        "run",
        run,
        step === undefined
          ? `takes over ${counted(reuse.length, "job")} from run ${from}; the rest runs`
          : `is forked from run ${from} at ${step} and takes over ${counted(reuse.length, "job")}`,
      ),
    runStory: ({ from, step, reason, reuse }) =>
      step === undefined
        ? `It took over ${counted(reuse.length, "job")} from run ${from}, for which nothing had changed.`
        : `It was forked from run ${from} at ${step}${because(reason)} and took over ${counted(reuse.length, "job")} of it.`,
  },
  // One line says how many there are: there may be thousands.
  "job.reused": {
    story: ({ job, origin, stood_in: stoodIn, decided }, run) =>
      told(
        job,
        fact(
          stoodIn === undefined
            ? `It was taken over from ${originText(origin)}${decided === undefined ? "" : ` where it was ${decisionText(decided)},`} and did not run again.`
            : `It failed in ${originText(origin)} and ${nameIn(run, stoodIn.by)} stood in for it; that was taken over.`,
        ),
      ),
  },
  "hold.resolved": {
    note: ({ job, action, reason, expired }, run) =>
      note(
        "operator",
        `${nameIn(run, job)}: hold ${expired ? `expired, ${action}` : `resolved by ${action}`}: ${short(reason)}${action === "retry" ? "" : unheardText(jobById(run, job))}`,
      ),
    story: ({ job, action, reason, by, expired }, run) =>
      steered(
        job,
        fact(
          expired
            ? `The hold expired (${reason}): ${RESOLVED_MEANS[action]}.`
            : `${who(by)} resolved the hold by ${action}${because(reason)}: ${RESOLVED_MEANS[action]}.`,
        ),
        // One that fails says so when it has.
        ...(action === "complete" || action === "skip" ? hintFacts(jobById(run, job)) : []),
      ),
  },
  "jobs.retried": { note: retriedNote, story: retriedStory, debug: true },
  "operator.goto": {
    note: ({ target, reason }, run) =>
      note("operator", `back to ${nameIn(run, target)} by hand: ${short(reason)}`),
    story: ({ target, reason, hint }) =>
      steered(target, fact(`Somebody went back to it${because(reason)}.`), ...hinted(hint), cost("nothing")),
  },
  "human.asked": {
    note({ job, prompt, choices }, run, type) {
      const name = nameIn(run, job);
      const command = answerCommand(run.id, name, choices, type);
      return note("question", `${name} asks: ${short(prompt)} (${choices.join(", ")}) — ${command}`);
    },
    story(event) {
      const { job, prompt, choices } = event;
      const expiry = expiryOf(event);
      const due = expiry === null ? "" : `, ${untilText(expiry)}`;
      return steered(job, fact(`It asked "${quote(prompt)}" (${choices.join(", ")})${due}.`));
    },
  },
  "human.answered": {
    note: ({ job, choice, text, reason, expired }, run) => {
      const why = expired ? reason! : text;
      return note(
        "operator",
        `${nameIn(run, job)} is answered: ${choice}${why === "" ? "" : `, ${short(why)}`}`,
      );
    },
    story: ({ job, choice, text, reason, expired }) =>
      steered(
        job,
        fact(
          expired
            ? `The question expired (${reason}): ${choice} counts as the answer.`
            : `The answer was ${choice}${text === "" ? "" : `: "${quote(text)}"`}.`,
        ),
      ),
  },
};

/** A person's hint to the step. */
function hinted(hint: string | undefined): Sentence[] {
  return hint === undefined ? [] : [fact(`It was given a hint: "${quote(hint)}".`)];
}

function originText(origin: AttemptElsewhere): string {
  return origin.attempt === 0 ? `run ${origin.run}` : `run ${origin.run}, attempt ${origin.attempt},`;
}

/** Who did it. Tokens and agents have names; a person who types a command is "Somebody". */
function who(by: string | undefined): string {
  return personIn(by) ?? "Somebody";
}

const RESOLVED_MEANS: Readonly<Record<EventOf<"hold.resolved">["action"], string>> = {
  retry: "it runs again, with fresh budgets",
  fail: "it fails",
  skip: "it is skipped, and what depends on it runs",
  complete: "it counts as completed with the given output",
};

const RETRIED_BY: Readonly<Record<EventOf<"jobs.retried">["action"], string>> = {
  retry_step: "retry",
  hard_reset_step: "hard-reset",
  redrive: "redrive",
  reset: "reset",
  recover: "recovery",
  resolve: "resolve",
};

/** A resolved hold has already been described. */
function retriedNote({ jobs, reblocked, action, reason }: EventOf<"jobs.retried">, run: Run): NewNote | null {
  if (action === "resolve") return null;
  const waiting = reblocked.length === 0 ? "" : `; waiting for it again: ${jobNames(run, reblocked)}`;
  return note(
    "operator",
    `${RETRIED_BY[action]} by hand: ${jobNames(run, jobs)} (${short(reason)})${waiting}`,
  );
}

function retriedStory(event: EventOf<"jobs.retried">, run: Run): Told[] {
  const { jobs, reblocked, action, raised = [], reason, hint } = event;
  return [
    ...jobs.flatMap((id) => {
      const { visit } = jobById(run, id);
      return steered(
        id,
        fact(
          action === "resolve"
            ? `Visit ${visit} began.`
            : `Visit ${visit} began with fresh budgets: somebody asked for a ${RETRIED_BY[action]}${because(reason)}.`,
        ),
        ...hinted(hint),
      );
    }),
    ...raised.flatMap(({ job, resource, to }) =>
      told(job, fact(`From now on the step may use ${amountText(resource, to)} of ${resource}.`)),
    ),
    ...reblocked.flatMap((id) =>
      told(
        id,
        fact(`It waits again for ${jobNames(run, jobs)}, which ${jobs.length === 1 ? "runs" : "run"} again.`),
      ),
    ),
  ];
}

/** What to type to answer a question with its first choice. */
function answerCommand(runId: number, job: string, choices: readonly string[], type: CommandText): string {
  return type(`answer ${runId} ${shellWord(job)} --choose ${shellWord(choices[0] ?? "approve")}`);
}
