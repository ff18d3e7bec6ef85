import type { Condition, Operand } from "../../core/model/definition.js";

/** A condition in a line, as a person would write it. */
export function renderCondition(condition: Condition): string {
  switch (condition.type) {
    case "exists":
      return `exists ${condition.field}`;
    case "comparison":
      return `${renderOperand(condition.left)} ${condition.operator} ${renderOperand(condition.right)}`;
    case "in_set":
      return `${condition.field} in ${JSON.stringify(condition.values)}`;
    case "array_length":
      return `length of ${condition.field} ${condition.operator} ${condition.value}`;
    case "and":
    case "or":
      return condition.conditions.map(renderPart).join(` ${condition.type} `);
    case "not":
      return `not ${renderPart(condition.condition)}`;
    case "expression":
      return condition.code.trim().replace(/\s+/g, " ");
    default:
      return condition satisfies never;
  }
}

function renderPart(condition: Condition): string {
  const text = renderCondition(condition);
  return condition.type === "exists" ? text : `(${text})`;
}

function renderOperand(operand: Operand): string {
  return operand.type === "field" ? operand.path : JSON.stringify(operand.value);
}
