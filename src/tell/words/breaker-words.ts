import type { UnparkReason } from "../../core/model/events.js";
import { jobNames } from "../lookup/job-name.js";
import { because, nameIn, short, steered, told, type WordsOf } from "./event-words.js";
import { note } from "./note.js";
import { cost, fact } from "./sentence.js";

type BreakerEvents = "job.parked" | "jobs.unparked" | "job.let_through";

/** What breakers do to the jobs that use them. */
export const BREAKER_WORDS: WordsOf<BreakerEvents> = {
  "job.parked": {
    answer: ({ breakers }) =>
      `it waits until ${breakers.join(" and ")} ${breakers.length === 1 ? "works" : "work"} again`,
    answerKind: "route",
    story: ({ job }) => told(job, cost("nothing: no retry, no attempt of a rule, no loop")),
    debug: true,
  },
  "jobs.unparked": {
    note: ({ jobs, breaker, because: why }, run) =>
      note("route", `${jobNames(run, jobs)}: ${UNPARKED[why](breaker)}`),
    story: ({ jobs, breaker, because: why }) =>
      jobs.flatMap((job) => told(job, fact(`It no longer waits: ${UNPARKED[why](breaker)}.`))),
    debug: true,
  },
  "job.let_through": {
    note: ({ job, reason }, run) =>
      note(
        "operator",
        `${nameIn(run, job)}: its next attempt starts whatever its breakers say: ${short(reason)}`,
      ),
    story: ({ job, reason }) =>
      steered(
        job,
        fact(`Somebody asked for a retry${because(reason)}: it starts whatever its breakers say.`),
        cost("nothing"),
      ),
  },
};

const UNPARKED: Readonly<Record<UnparkReason, (breaker: string) => string>> = {
  closed: (breaker) => `${breaker} works again`,
  spent: (breaker) => `${breaker} was open for as long as it may be, so the failure climbs on`,
  probe: (breaker) => `it checks whether ${breaker} works again`,
};
