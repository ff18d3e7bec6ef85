import type { ComparisonOperator, Condition, Operand } from "../model/definition.js";
import type { Json } from "../text/json.js";
import { equalJson } from "../text/json-schema-check.js";

export { lookupPath } from "../text/lookup-path.js";

export type ConditionVerdict =
  | { readonly kind: "true" | "false"; readonly why: string }
  /** Cannot tell before this expression has been evaluated. */
  | { readonly kind: "ask"; readonly code: string };

/** What became of an expression, if it has been evaluated. */
export type ExpressionAnswer = boolean | { readonly refused: string };
export type AnswerLookup = (code: string) => ExpressionAnswer | undefined;
export type FieldLookup = (path: string) => Json | undefined;

interface Surroundings {
  readonly lookup: FieldLookup;
  readonly answers: AnswerLookup;
  /**
   * What a refused expression counts as here: false, so that it never makes a condition true; under a `not` therefore
   * true.
   */
  readonly refusedAs: boolean;
}

const MAX_SHOWN_VALUE_CHARS = 60;
const MAX_SHOWN_REASONS = 3;
const WORD = /^[\w.-]+$/;

/** Whether a condition holds, with the reason as text, or which expression must be evaluated first. */
export function evaluateCondition(
  condition: Condition,
  lookup: FieldLookup,
  answers: AnswerLookup = () => undefined,
): ConditionVerdict {
  return judge(condition, { lookup, answers, refusedAs: false });
}

function judge(condition: Condition, around: Surroundings): ConditionVerdict {
  switch (condition.type) {
    case "exists": {
      const exists = (around.lookup(condition.field) ?? null) !== null;
      return verdict(exists, `${condition.field} ${exists ? "exists" : "does not exist"}`);
    }
    case "comparison":
      return judgeComparison(condition, around.lookup);
    case "in_set":
      return judgeMembership(condition.field, condition.values, around.lookup);
    case "array_length":
      return judgeLength(condition, around.lookup);
    case "and":
      return judgeAll(condition.conditions, "false", around);
    case "or":
      return judgeAll(condition.conditions, "true", around);
    case "not":
      return negate(judge(condition.condition, { ...around, refusedAs: !around.refusedAs }));
    case "expression":
      return judgeExpression(condition.code, around);
  }
}

function verdict(holds: boolean, why: string): ConditionVerdict {
  return { kind: holds ? "true" : "false", why };
}

/** The reason is a fact about the data, so it stays right. */
function negate(inner: ConditionVerdict): ConditionVerdict {
  return inner.kind === "ask" ? inner : verdict(inner.kind === "false", inner.why);
}

/** One member that is `decisive` decides, wherever it stands; only without one is an expression worth asking for. */
function judgeAll(
  conditions: readonly Condition[],
  decisive: "true" | "false",
  around: Surroundings,
): ConditionVerdict {
  const reasons: string[] = [];
  let ask: ConditionVerdict | null = null;
  for (const condition of conditions) {
    const member = judge(condition, around);
    if (member.kind === decisive) return member;
    if (member.kind === "ask") ask ??= member;
    else reasons.push(member.why);
  }
  if (ask !== null) return ask;
  const more = reasons.length - MAX_SHOWN_REASONS;
  const shown = reasons.slice(0, MAX_SHOWN_REASONS).join(" and ") || "there is nothing to test";
  return verdict(decisive === "false", more > 0 ? `${shown} and ${more} more` : shown);
}

function judgeExpression(code: string, { answers, refusedAs }: Surroundings): ConditionVerdict {
  const answer = answers(code);
  if (answer === undefined) return { kind: "ask", code };
  if (typeof answer === "boolean") return verdict(answer, `the expression is ${answer}`);
  return verdict(refusedAs, `the expression was refused: ${answer.refused}`);
}

function judgeComparison(
  { operator, left, right }: Condition & { type: "comparison" },
  lookup: FieldLookup,
): ConditionVerdict {
  const a = readOperand(left, lookup);
  const b = readOperand(right, lookup);
  const holds = compare(operator, a, b);
  const [shownLeft, shownRight] = showPair(a, b);
  const other = right.type === "field" ? `${right.path} (${shownRight})` : shownRight;
  if (left.type === "literal")
    return verdict(holds, `${shownLeft} is ${holds ? "" : "not "}${operator} ${other}`);
  const subject = a === null ? `${left.path} does not exist` : `${left.path} is ${shownLeft}`;
  const isEqual = (operator === "==") === holds;
  if (operator === "==" || operator === "!=")
    return verdict(holds, isEqual || a === null ? subject : `${subject}, not ${other}`);
  return verdict(holds, `${subject}, ${holds ? "" : "not "}${operator} ${other}`);
}

function judgeMembership(field: string, values: readonly Json[], lookup: FieldLookup): ConditionVerdict {
  const value = lookup(field) ?? null;
  const holds = values.some((allowed) => equalJson(allowed, value));
  const subject = value === null ? `${field} does not exist` : `${field} is ${show(value)}`;
  return verdict(holds, holds ? `${subject}, one of the set` : `${subject}, none of ${show(values)}`);
}

function judgeLength(
  { field, operator, value }: Condition & { type: "array_length" },
  lookup: FieldLookup,
): ConditionVerdict {
  const list = lookup(field) ?? null;
  if (list === null) return verdict(false, `${field} does not exist`);
  if (!Array.isArray(list)) return verdict(false, `${field} is not an array`);
  const holds = compare(operator, list.length, value);
  const items = `${field} has ${list.length} ${list.length === 1 ? "item" : "items"}`;
  return verdict(holds, `${items}, ${holds ? "" : "not "}${operator} ${value}`);
}

/** What is not there is null. */
function readOperand(operand: Operand, lookup: FieldLookup): Json {
  return operand.type === "literal" ? operand.value : (lookup(operand.path) ?? null);
}

function compare(operator: ComparisonOperator, a: Json, b: Json): boolean {
  if (operator === "==") return equalJson(a, b);
  if (operator === "!=") return !equalJson(a, b);
  const ordered =
    (typeof a === "number" && typeof b === "number") || (typeof a === "string" && typeof b === "string");
  if (!ordered) return false;
  switch (operator) {
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
  }
}

/** Shows two values. Plain words have no quotes, unless quotes distinguish `"503"` from `503`. */
function showPair(a: Json, b: Json): [string, string] {
  const bare = typeof a === "string" && typeof b === "string" && WORD.test(a) && WORD.test(b);
  return bare ? [shorten(a), shorten(b)] : [show(a), show(b)];
}

function show(value: Json): string {
  return shorten(JSON.stringify(value));
}

function shorten(text: string): string {
  if (text.length <= MAX_SHOWN_VALUE_CHARS) return text;
  // Cut by code points, so that no surrogate pair is split.
  return `${[...text.slice(0, MAX_SHOWN_VALUE_CHARS + 1)].slice(0, -1).join("")}...`;
}
