import type { ActionDefinition } from "../../core/model/definition.js";
import { childPath, type Path } from "../read/path.js";
import type { ReadContext } from "../read/schema.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { didYouMean, quote } from "../read/suggest.js";

export const DEFAULT_CHOICES = ["approve", "reject"] as const;
const DEFAULT_REJECT = "reject";

/** A human step with its choices filled in; `reject` may only name some of them. */
export function finishHuman(
  action: ActionDefinition,
  node: SourceMap,
  path: Path | null,
  context: ReadContext,
): ActionDefinition {
  const choices = [...new Set((action.choices as readonly string[] | undefined) ?? DEFAULT_CHOICES)];
  const given = action.reject as readonly string[] | undefined;
  const reject = [...new Set(given ?? choices.filter((choice) => choice === DEFAULT_REJECT))];
  const report = (message: string, hint: string, key = "reject") => {
    const at = findEntry(node, key)?.keyAt ?? node.at;
    context.findings.error({ code: "INVALID_VALUE", message, hint, at, path: childPath(path, key) });
  };
  const unknown = (key: string, choice: string) => {
    const suggestion = context.findings.suggester.nearest(choice, choices);
    const message = `\`${key}\` names ${quote(choice)}, which is not one of the choices${didYouMean(suggestion)}`;
    report(message, `Choices of the step: ${choices.join(", ")}.`, key);
  };
  for (const choice of reject) if (!choices.includes(choice)) unknown("reject", choice);
  const chosen = chosenWithout(action);
  if (chosen !== null && !choices.includes(chosen)) unknown("then", chosen);
  if (action.then !== undefined && action.expires === undefined && findEntry(node, "expires") === undefined)
    report("`then` has no effect without `expires`", "Add `expires`, such as `expires: 4h`.", "then");
  if (given !== undefined && choices.every((choice) => reject.includes(choice)))
    report("every choice fails the step", "Leave at least one choice out of `reject`.");
  return { ...action, choices, reject };
}

/** What counts as the answer to a question that nobody answers; null: nothing does. */
export function chosenWithout({ then }: ActionDefinition): string | null {
  const isChosen = typeof then === "object" && then !== null && "choose" in then;
  return isChosen && typeof then.choose === "string" ? then.choose : null;
}
