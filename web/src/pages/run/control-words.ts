import type { IconName } from "../../parts/Icon.js";
import type { Control, RunSummary } from "./run-data.js";

export type Action = Control["action"];

/** The appearance and texts of a control. */
export interface ControlWords {
  readonly action: Action;
  readonly label: string;
  readonly icon: IconName;
  /** Acts at once, because its name says what it does. Other controls first show what they will do. */
  readonly atOnce: boolean;
  readonly onStep: boolean;
  readonly danger: boolean;
  /** A text such as "Retry build" or "Cancel run 3". */
  readonly asked: (what: { readonly run: number; readonly step: string }) => string;
  readonly effect: string;
  /** The text of the button that changes nothing. */
  readonly harmless: string;
  /** The key that opens it. It never sends anything. */
  readonly key?: string;
  /** The most obvious choice. There is one in a view. */
  readonly isFirst?: true;
  /** The step works again, so that it can be told something. */
  readonly takesHint?: true;
  /** It needs an output from the user. */
  readonly withOutput?: true;
  /** A harder variant: offered with this control, and instead of it once this one has no effect any more. */
  readonly harder?: { readonly words: ControlWords; readonly choice: string };
}

const plain = { atOnce: false, onStep: false, danger: false, harmless: "Keep waiting" } as const;

const RETRY: ControlWords = {
  ...{ ...plain, action: "retry_step", label: "Retry step", icon: "retry", onStep: true },
  takesHint: true,
  asked: ({ step }) => `Retry ${step}`,
  effect: "The step runs again with fresh budgets, and what was canceled because of it waits for it again.",
};
const RESUME_FROM: ControlWords = {
  ...{ ...plain, action: "resume_from_step", label: "Resume from", icon: "back", onStep: true },
  takesHint: true,
  asked: ({ step }) => `Resume from ${step}`,
  effect: "The step and everything that depends on it run again.",
};
const HARD_RESET: ControlWords = {
  ...{ ...plain, action: "hard_reset_step", label: "Hard reset", icon: "reset", onStep: true },
  danger: true,
  takesHint: true,
  asked: ({ step }) => `Hard reset ${step}`,
  effect:
    "The step runs again in a fresh workspace, rebuilt from the checkpoints before it. What it left in the old one is gone.",
};

const PAUSE: ControlWords = {
  ...{ ...plain, action: "pause", label: "Pause", icon: "pause", atOnce: true, effect: "" },
  asked: ({ run }) => `Pause run ${run}`,
};
const RESUME: ControlWords = {
  ...{ ...plain, action: "resume", label: "Resume", icon: "resume", atOnce: true, effect: "" },
  asked: ({ run }) => `Resume run ${run}`,
};
const TAKE_OVER: ControlWords = {
  ...{ ...plain, action: "takeover", label: "Take over", icon: "takeover" },
  takesHint: true,
  effect:
    "Nothing new starts until the run is handed back. A hint is for the next attempt of the selected step.",
  asked: ({ run }) => `Take over run ${run}`,
};
const HAND_BACK: ControlWords = { ...RESUME, label: "Hand back", icon: "takeover" };
const FORK: ControlWords = {
  ...{ ...plain, action: "fork", label: "Fork", icon: "fork", onStep: true },
  asked: ({ step }) => `Fork from ${step}`,
  effect:
    "A new run begins at this step, and takes over what was completed before it. This run stays as it is.",
};
const CANCEL_NOW: ControlWords = {
  ...{ ...plain, action: "cancel_now", label: "Cancel now", icon: "cancel", danger: true },
  harmless: "Keep it running",
  asked: ({ run }) => `Cancel run ${run} now`,
  effect:
    "Everything that is running is stopped, undo and finally steps too. What has not been undone by then stays as it is.",
};
const CANCEL: ControlWords = {
  ...{ ...plain, action: "cancel", label: "Cancel", icon: "cancel", danger: true },
  harmless: "Keep it running",
  asked: ({ run }) => `Cancel run ${run}`,
  effect:
    "Steps that are running are stopped, and nothing new starts; where there are undo and finally steps, they run before it ends.",
  harder: { words: CANCEL_NOW, choice: "Now, without undo and finally steps" },
};

/**
 * The controls of a run, and those for its selected step. A control's opposite takes its place: a paused or interrupted
 * run is resumed, one that somebody has taken over is handed back.
 */
export function runControlsOf({
  status,
  interrupted,
  live_control: { takeover },
}: Pick<RunSummary, "status" | "interrupted" | "live_control">): readonly ControlWords[] {
  const rests = !takeover && (status === "paused" || interrupted);
  return [
    rests ? RESUME : PAUSE,
    takeover ? HAND_BACK : TAKE_OVER,
    ...[{ ...RETRY, key: "r" }, RESUME_FROM, HARD_RESET, FORK, CANCEL],
  ];
}

const REDRIVE: ControlWords = {
  ...{ ...plain, action: "redrive", label: "Redrive", icon: "retry", onStep: true },
  takesHint: true,
  asked: ({ step }) => `Redrive ${step}`,
  effect: "The step goes back into the queue and may use all rounds of the queue again.",
};
const COMPLETE: ControlWords = {
  ...{ ...plain, action: "complete", label: "Complete", icon: "check", onStep: true },
  withOutput: true,
  asked: ({ step }) => `Complete ${step}`,
  effect: "The run continues with this output.",
};
const SKIP: ControlWords = {
  ...{ ...plain, action: "skip", label: "Skip", icon: "skip", onStep: true },
  asked: ({ step }) => `Skip ${step}`,
  effect: "The run goes on without the step.",
};
const LET_FAIL: ControlWords = {
  ...{ ...plain, action: "fail", label: "Let it fail", icon: "cross", onStep: true, danger: true },
  asked: ({ step }) => `Let ${step} fail`,
  effect: "The step fails, and what depends on it is canceled.",
  harmless: "Let it wait",
};

/** The controls of a step, with the keys of the inbox. For a dead letter, redrive comes first. */
export function stepControls(isDeadLetter: boolean): readonly ControlWords[] {
  return [
    { ...(isDeadLetter ? REDRIVE : RETRY), key: "r", isFirst: true },
    { ...HARD_RESET, key: "h" },
    RESUME_FROM,
    { ...COMPLETE, key: "c" },
    { ...SKIP, key: "s" },
    { ...LET_FAIL, key: "x" },
  ];
}

export const LOOKING_BACK = "You are looking at the past. Go back to the end to act.";
