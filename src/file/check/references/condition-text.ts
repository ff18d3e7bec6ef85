import type { ConditionField } from "../../fields/condition-fields.js";
import type { TransitionDraft } from "../../fields/transition-fields.js";
import type { NamePart, NamesInText } from "../../read/names-in-text.js";
import type { TextWithNames } from "../../read/placed-text.js";

const PART = /\[\d+\]|[^.[\]]+/g;

/** The fields that conditions read, as if each was a template of its own. */
export function fieldsAsText(
  transitions: readonly TransitionDraft[],
  steps: { has(name: string): boolean },
): TextWithNames[] {
  return transitions.flatMap(({ when }) =>
    (when?.fields ?? []).map((field) => ({
      language: "template",
      text: field.value,
      node: field.node,
      path: field.path,
      names: namesInField(field, steps),
    })),
  );
}

function namesInField(field: ConditionField, steps: { has(name: string): boolean }): NamesInText {
  const parts = [...field.value.matchAll(PART)].map((match) => ({ name: match[0], at: match.index }));
  const reads = [{ path: joinStepName(parts, steps), asked: field.asked === true }];
  return { reads, declared: new Set(), hidden: false, literals: [], prints: [] };
}

/** Unlike elsewhere, the id of a step may have dots in it here: the longest that is one counts. */
function joinStepName(
  parts: readonly NamePart[],
  steps: { has(name: string): boolean },
): readonly NamePart[] {
  if (parts[0]?.name !== "outputs") return parts;
  const from = parts[1]?.name === "history" && parts.length > 2 ? 2 : 1;
  for (let to = parts.length; to > from + 1; to--) {
    const name = parts
      .slice(from, to)
      .map((part) => part.name)
      .join(".");
    if (steps.has(name)) return [...parts.slice(0, from), { name, at: parts[from]!.at }, ...parts.slice(to)];
  }
  return parts;
}
