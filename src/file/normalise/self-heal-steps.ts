import { actionTraits } from "../../core/model/action-traits.js";
import type { SelfHeal, StepDefinition } from "../../core/model/definition.js";
import type { RawStep } from "../fields/read-step.js";
import type { RetryDraft } from "../fields/retry-fields.js";
import { childPath } from "../read/path.js";
import type { ReadContext } from "../read/schema.js";
import { findEntry } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";

export interface StepHealing {
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
