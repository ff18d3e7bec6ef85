import { itemsOf, tooManyItems } from "../../core/decide/item-limit.js";
import { actionTraits } from "../../core/model/action-traits.js";
import type { Backoff, RetryPolicy, SelfHeal, StepDefinition } from "../../core/model/definition.js";
import type { HoldExpiry } from "../../core/model/time-used.js";
import { checkJson } from "../../core/text/json-schema-check.js";
import type { RawStep } from "../fields/read-step.js";
import type { BackoffDraft, RetryDraft } from "../fields/retry-fields.js";
import { childPath } from "../read/path.js";
import type { Located, ReadContext } from "../read/schema.js";
import { findEntry } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";

/** The delay of a growing or fixed backoff that names none. */
const DEFAULT_BACKOFF_DELAY_MS = 1_000;

/** A step's own keys over the file's defaults, key by key, the backoff's keys too. */
export function mergeRetry(own: RetryDraft | undefined, defaults: RetryDraft | undefined): RetryDraft | null {
  if (own === undefined && defaults === undefined) return null;
  const bothBackoffs = own?.backoff !== undefined || defaults?.backoff !== undefined;
  return {
    max: own?.max ?? defaults?.max,
    backoff: bothBackoffs ? mergeBackoff(own?.backoff, defaults?.backoff) : undefined,
    on: own?.on ?? defaults?.on,
    on_worker: own?.on_worker ?? defaults?.on_worker,
  };
}

/** Whether the defaults give a step something that it does not say itself. */
export function addsToRetry(own: RetryDraft | undefined, defaults: RetryDraft): boolean {
  const adds = (given: object = {}, all: object = {}): boolean =>
    Object.entries(all).some(
      ([key, value]) => value !== undefined && given[key as keyof typeof given] === undefined,
    );
  const { backoff, ...rest } = defaults;
  return adds(own, rest) || adds(own?.backoff, backoff);
}

function mergeBackoff(own: BackoffDraft = {}, defaults: BackoffDraft = {}): BackoffDraft {
  return {
    mode: own.mode ?? defaults.mode,
    delayMs: own.delayMs ?? defaults.delayMs,
    maxDelayMs: own.maxDelayMs ?? defaults.maxDelayMs,
    jitter: own.jitter ?? defaults.jitter,
  };
}

/** Null when nothing is retried and nothing else is set; a backoff without retries stays for `--retry-max`. */
export function toRetryPolicy(draft: RetryDraft | null): RetryPolicy | null {
  if (draft === null) return null;
  const max = draft.max ?? 0;
  const { backoff, on, on_worker: onWorker } = draft;
  if (max === 0 && backoff === undefined && on === undefined && onWorker === undefined) return null;
  const policy = { max, backoff: toBackoff(backoff), on: [...new Set(on ?? [])] };
  return onWorker === undefined ? policy : { ...policy, onWorker };
}

function toBackoff(draft: BackoffDraft | undefined): Backoff {
  const mode = draft?.mode ?? (draft?.delayMs === undefined ? "none" : "fixed");
  if (draft === undefined || mode === "none")
    return { mode: "none", delayMs: 0, maxDelayMs: draft?.maxDelayMs ?? null, jitter: 0 };
  return {
    mode,
    delayMs: draft.delayMs ?? DEFAULT_BACKOFF_DELAY_MS,
    maxDelayMs: draft.maxDelayMs ?? null,
    jitter: draft.jitter ?? 0,
  };
}

interface StepHealing {
  readonly usesWorkspace: boolean;
  readonly progress: StepDefinition["progress"];
  /** Null if self-heal does not apply to the step. */
  readonly selfHeal: SelfHeal | null;
}

/** Determines where a step works and whether self-heal watches it. Reports keys that cannot be honoured. */
export function stepHealing(
  raw: RawStep,
  surroundings: { readonly hasWorkspace: boolean; readonly selfHeal: SelfHeal | null },
  context: ReadContext,
): StepHealing {
  const { keys, action } = raw;
  const { hasWorkspace, selfHeal } = surroundings;
  const { startsProcess: mayUse, isPrompted } = actionTraits(action.type);
  const usesWorkspace = hasWorkspace && mayUse && keys.workspace !== false;
  if (keys.workspace === true && !usesWorkspace) {
    const message = mayUse
      ? "`workspace: true` needs a `workspace` at the top of the file"
      : `a step of type ${quote(action.type)} does not work in the workspace`;
    refuse(raw, "workspace", message, mayUse ? "Add one, or remove the key." : "Remove the key.", context);
  }
  if (keys.progress === "files" && !usesWorkspace) {
    const message = "`progress: files` watches the workspace, and this step does not work in one";
    refuse(raw, "progress", message, "Remove it, or give the file a `workspace`.", context);
  }
  // Self-heal is for steps that get stuck: agents, model calls, and whatever works in the workspace.
  const healed = usesWorkspace || isPrompted;
  return { usesWorkspace, progress: keys.progress ?? "output", selfHeal: healed ? selfHeal : null };
}

function refuse(raw: RawStep, key: string, message: string, hint: string, context: ReadContext): void {
  const at = findEntry(raw.node, key)?.value.at ?? raw.node.at;
  context.findings.error({ code: "INVALID_VALUE", message, hint, at, path: childPath(raw.path, key) });
}

/**
 * A step's own keys win, then self-heal, then the file's defaults. A command says the same when it is run again, so where
 * its failure leads somewhere it goes there at once.
 */
export function healedRetry(
  { keys, action }: RawStep,
  { defaults, selfHeal, hasEdge }: HealedDefaults,
): RetryDraft | undefined {
  const { run, run_js, goto, goto_js } = keys.on_fail ?? {};
  const leadsOn =
    hasEdge || [run?.steps?.length || undefined, run_js, goto, goto_js].some((each) => each !== undefined);
  if (selfHeal === null || (action.type === "command" && leadsOn)) return defaults;
  return { ...defaults, max: selfHeal.stepMaxAttempts - 1 };
}

interface HealedDefaults {
  readonly defaults: RetryDraft | undefined;
  readonly selfHeal: SelfHeal | null;
  /** A transition takes its failure somewhere. */
  readonly hasEdge: boolean;
}

export function healedTimeouts(
  own: { readonly timeoutMs: number | null; readonly idleTimeoutMs: number | null },
  selfHeal: SelfHeal | null,
): { readonly timeoutMs: number | null; readonly idleTimeoutMs: number | null } {
  if (selfHeal === null) return own;
  const timeoutMs = own.timeoutMs ?? selfHeal.stepTimeoutMs;
  // One that the step's own timeout always comes before is left out.
  const idle = selfHeal.stepIdleTimeoutMs < timeoutMs ? selfHeal.stepIdleTimeoutMs : null;
  return { timeoutMs, idleTimeoutMs: own.idleTimeoutMs ?? idle };
}

export interface HoldSurroundings {
  /** The workflow's. */
  readonly hold: Located<HoldExpiry> | undefined;
  readonly maxItems: number;
  readonly context: ReadContext;
}

/** A step's own way out of a hold. What a hold completes with must be what the step could have given. */
export function stepHold(
  id: string,
  { keys }: RawStep,
  { hold: ofWorkflow, maxItems, context }: HoldSurroundings,
): HoldExpiry | undefined {
  const hold = keys.hold ?? ofWorkflow;
  if (hold?.value.action === "complete") {
    const { at, path } = hold;
    const flaw = flawOf(hold.value.output ?? null, keys, maxItems);
    if (flaw !== null)
      context.findings.error({
        code: "INVALID_VALUE",
        message: `a hold of ${quote(id)} cannot be completed so: ${flaw}`,
        hint: "Give an output that the step could have, or give the step its own `hold`.",
        at,
        path,
      });
  }
  return keys.hold?.value;
}

function flawOf(
  value: NonNullable<HoldExpiry["output"]> | null,
  { outputs, forEach }: RawStep["keys"],
  maxItems: number,
): string | null {
  const [mismatch] = outputs == null ? [] : checkJson(outputs, value);
  if (mismatch !== undefined)
    return `the output does not fit its schema: ${mismatch.path}: ${mismatch.message}`;
  if (forEach !== true) return null;
  const items = itemsOf(value);
  return items === null
    ? "the output of a forEach step is a list"
    : (tooManyItems(items.length, maxItems)?.message ?? null);
}
