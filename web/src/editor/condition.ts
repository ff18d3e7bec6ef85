import type { Condition, Operand } from "../../../src/core/model/definition.js";
import { renderCondition } from "../../../src/file/draw/render-condition.js";

/** A condition as the inspector edits it. */
export type ConditionForm = { readonly kind: "none" } | ConditionPart;

/** A condition with content, alone or within others. */
export type ConditionPart =
  | { readonly kind: "comparison"; readonly field: string; readonly operator: string; readonly value: string }
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "and" | "or"; readonly parts: readonly ConditionPart[] }
  | { readonly kind: "not"; readonly part: ConditionPart }
  /** A condition such as `in_set` that is kept as it is in the text. */
  | { readonly kind: "kept"; readonly words: string; readonly written: unknown };

export const OPERATORS = ["==", "!=", "<", "<=", ">", ">="] as const;

export const NEW_COMPARISON: ConditionPart = {
  kind: "comparison",
  field: "error.class",
  operator: "==",
  value: "",
};

/** Converts a condition that the server has parsed. */
export function formOf(when: unknown): ConditionForm {
  return when === null || when === undefined ? { kind: "none" } : partOf(when as Condition);
}

function partOf(when: Condition): ConditionPart {
  switch (when.type) {
    case "expression":
      return { kind: "code", code: when.code };
    case "and":
    case "or":
      return { kind: when.type, parts: when.conditions.map(partOf) };
    case "not":
      return { kind: "not", part: partOf(when.condition) };
    case "comparison": {
      const { left, operator, right } = when;
      if (left.type === "field" && right.type === "literal" && isPlain(right.value))
        return { kind: "comparison", field: left.path, operator, value: textOf(right.value) };
      const written = { type: "comparison", left: operandOf(left), operator, right: operandOf(right) };
      return { kind: "kept", words: renderCondition(when), written };
    }
    default:
      return { kind: "kept", words: renderCondition(when), written: when };
  }
}

/** The condition as the text has it; undefined while it is incomplete. */
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
    case "and":
    case "or": {
      const conditions = form.parts.map(writtenOf);
      return conditions.includes(undefined) ? undefined : { type: form.kind, conditions };
    }
    case "not": {
      const condition = writtenOf(form.part);
      return condition === undefined ? undefined : { type: "not", condition };
    }
    case "kept":
      return form.written;
    default:
      return form satisfies never;
  }
}

/** Combines the condition with a new one. A group of the same kind is extended instead. */
export function joined(form: ConditionPart, kind: "and" | "or"): ConditionPart {
  const parts = form.kind === kind ? form.parts : [form];
  return { kind, parts: [...parts, NEW_COMPARISON] };
}

export function negated(form: ConditionPart): ConditionPart {
  return form.kind === "not" ? form.part : { kind: "not", part: form };
}

/** Removes a part. If one part is left, it replaces the group. */
export function withoutPart(
  { kind, parts }: Extract<ConditionPart, { kind: "and" | "or" }>,
  place: number,
): ConditionPart {
  const left = parts.filter((_, each) => each !== place);
  return left.length === 1 ? left[0]! : { kind, parts: left };
}

/** Whether a field of a form can hold the value. */
function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function operandOf(operand: Operand): unknown {
  return operand.type === "field" ? operand.path : { type: "literal", value: operand.value };
}

/** Reads a literal. Text that would read as a field is quoted. */
function literal(text: string): unknown {
  const value = /^(-?\d+(\.\d+)?|true|false)$/.test(text) ? (JSON.parse(text) as unknown) : text;
  return typeof value === "string" && value.includes(".") ? { type: "literal", value } : value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
