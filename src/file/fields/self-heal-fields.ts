import {
  type Backoff,
  DEFAULT_QUEUE,
  DEFAULT_SELF_HEAL,
  type QueuePolicy,
  type SelfHeal,
  type WorkspaceDefinition,
} from "../../core/model/definition.js";
import { classesWith, type FailureClass } from "../../core/model/failure.js";
import { listOf, mapped, named, object, union } from "../read/schema.js";
import { boolean, durationInSeconds, number, oneOf, text } from "../read/schema-scalars.js";
import { type BackoffDraft, backoff, MAX_COUNT } from "./retry-fields.js";

const MAX_REF_CHARS = 1_000;
const MS_PER_SECOND = 1_000;

const repoText = text({ expected: "a repository's path" });
/** Handed to git as an argument: it must not look like an option. */
const refText = text({
  expected: "a branch, tag or commit",
  maxChars: MAX_REF_CHARS,
  pattern: /^[^\s\p{Cc}-][^\s\p{Cc}]*$/u,
  rule: "Write a branch, tag or commit, such as `HEAD` or `main`.",
});

export const workspace = named(
  "workspace",
  mapped(
    object({
      repo: {
        schema: repoText,
        doc: "The git repository; a relative path starts at this file's folder.",
        default: ".",
      },
      ref: { schema: refText, doc: "Where the work begins; pinned when a run starts.", default: "HEAD" },
      on_lost: {
        schema: oneOf(["set_aside", "keep"] as const),
        doc: "After a lost or interrupted attempt: `set_aside` starts again from the last checkpoint, `keep` continues with what it left.",
        default: "set_aside",
      },
    }),
    ({ repo, ref, on_lost }): WorkspaceDefinition => ({
      repo: repo ?? ".",
      ref: ref ?? "HEAD",
      onLost: on_lost ?? "set_aside",
    }),
  ),
);

const attempts = number({ min: 1, max: MAX_COUNT, whole: true });
const seconds = durationInSeconds({ min: 1 });

const budgets = mapped(
  object({
    step_max_attempts: {
      schema: attempts,
      doc: "Attempts of a step, the first included.",
      default: DEFAULT_SELF_HEAL.stepMaxAttempts,
    },
    step_timeout_seconds: {
      schema: seconds,
      doc: "An attempt that takes longer is ended.",
      default: DEFAULT_SELF_HEAL.stepTimeoutMs / MS_PER_SECOND,
    },
    step_idle_timeout_seconds: {
      schema: seconds,
      doc: "An attempt that shows no sign of life for this long is ended.",
      default: DEFAULT_SELF_HEAL.stepIdleTimeoutMs / MS_PER_SECOND,
    },
    step_no_progress_limit: {
      schema: attempts,
      doc: "After this many failures without progress a step counts as stuck.",
      default: DEFAULT_SELF_HEAL.stepNoProgressLimit,
    },
    job_self_heal_max_resets: {
      schema: number({ min: 0, max: MAX_COUNT, whole: true }),
      doc: "Hard resets in one run.",
      default: DEFAULT_SELF_HEAL.maxResets,
    },
  }),
  (given): SelfHeal => ({
    stepMaxAttempts: given.step_max_attempts ?? DEFAULT_SELF_HEAL.stepMaxAttempts,
    stepTimeoutMs: given.step_timeout_seconds ?? DEFAULT_SELF_HEAL.stepTimeoutMs,
    stepIdleTimeoutMs: given.step_idle_timeout_seconds ?? DEFAULT_SELF_HEAL.stepIdleTimeoutMs,
    stepNoProgressLimit: given.step_no_progress_limit ?? DEFAULT_SELF_HEAL.stepNoProgressLimit,
    maxResets: given.job_self_heal_max_resets ?? DEFAULT_SELF_HEAL.maxResets,
  }),
);

/** `true` for the defaults; `false` is the same as leaving the key out. */
export const selfHeal = named(
  "self_heal",
  union(
    mapped(boolean(), (on) => (on ? DEFAULT_SELF_HEAL : null)),
    budgets,
  ),
);

const passingClass = oneOf<FailureClass>(classesWith("mayPass"));

export const queue = named(
  "queue",
  mapped(
    object({
      max_attempts: {
        schema: attempts,
        doc: "Rounds in all, the first included.",
        default: DEFAULT_QUEUE.maxAttempts,
      },
      backoff: {
        schema: backoff,
        doc: "The wait before each further round; exponential from 15 s to 600 s.",
      },
      classes: {
        schema: listOf(passingClass, { items: "failure classes" }),
        doc: "Only failures of these classes are requeued.",
        default: [...DEFAULT_QUEUE.classes],
      },
    }),
    (given): QueuePolicy => ({
      maxAttempts: given.max_attempts ?? DEFAULT_QUEUE.maxAttempts,
      backoff: queueBackoff(given.backoff),
      classes: [...new Set(given.classes ?? DEFAULT_QUEUE.classes)],
    }),
  ),
);

function queueBackoff(given: BackoffDraft | undefined): Backoff {
  const { mode, delayMs, maxDelayMs, jitter } = DEFAULT_QUEUE.backoff;
  if (given?.mode === "none") return { mode: "none", delayMs: 0, maxDelayMs, jitter: 0 };
  return {
    mode: given?.mode ?? mode,
    delayMs: given?.delayMs ?? delayMs,
    maxDelayMs: given?.maxDelayMs ?? maxDelayMs,
    jitter: given?.jitter ?? jitter,
  };
}
