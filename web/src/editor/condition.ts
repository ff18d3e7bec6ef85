/** A condition as the inspector edits it. */
export type ConditionForm =
  | { readonly kind: "none" }
  | { readonly kind: "comparison"; readonly field: string; readonly operator: string; readonly value: string }
  | { readonly kind: "code"; readonly code: string }
  /** One that only the text can change, such as `and`. */
  | { readonly kind: "other" };

export const OPERATORS = ["==", "!=", "<", "<=", ">", ">="] as const;

interface Operand {
  readonly type: string;
  readonly path?: string;
  readonly value?: unknown;
}

/** From the condition as the server has read it. */
export function formOf(when: unknown): ConditionForm {
  if (when === null || when === undefined) return { kind: "none" };
  const { type, code, operator, left, right } = when as {
    readonly type: string;
    readonly code?: string;
    readonly operator?: string;
    readonly left?: Operand;
    readonly right?: Operand;
  };
  if (type === "expression") return { kind: "code", code: code ?? "" };
  if (type === "comparison" && left?.type === "field" && right?.type === "literal")
    return {
      kind: "comparison",
      field: left.path ?? "",
      operator: operator ?? "==",
      value: textOf(right.value),
    };
  return { kind: "other" };
}

/** As the text has it; undefined: it is not whole yet. */
export function writtenOf(form: ConditionForm): unknown {
  switch (form.kind) {
    case "none":
      return null;
    case "code":
      return form.code.trim() === "" ? undefined : form.code;
    case "comparison":
      return form.field.trim() === "" || form.value === ""
        ? undefined
        : {
            type: "comparison",
            left: form.field.trim(),
            operator: form.operator,
            right: literal(form.value),
          };
    case "other":
      return undefined;
    default:
      return form satisfies never;
  }
}

/** A text that reads as a field must not become one. */
function literal(text: string): unknown {
  const value = /^(-?\d+(\.\d+)?|true|false)$/.test(text) ? (JSON.parse(text) as unknown) : text;
  return typeof value === "string" && value.includes(".") ? { type: "literal", value } : value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
