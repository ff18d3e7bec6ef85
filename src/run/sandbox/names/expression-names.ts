import { createRequire } from "node:module";
import type { AnyNode, ObjectPattern, Pattern } from "acorn";
import type { NamePart, NameRead, NamesInText } from "../../../file/read/placed-text.js";
import { wrapCode } from "../wrap-code.js";

const GLOBAL_OBJECT = "globalThis";

/** The names in code that `wrapCode` accepts. Null if `wrapCode` or the parser rejects it. */
export function namesInExpression(code: string): NamesInText | null {
  const wrapped = wrapCode(code);
  if (!wrapped.ok) return null;
  // The user's code begins on the second line.
  const start = wrapped.source.indexOf("\n") + 1;
  try {
    return new NameWalk(start).walk(parse(wrapped.source));
  } catch {
    // The syntax is known only to V8, or the code is nested too deeply to walk.
    return null;
  }
}

let acorn: typeof import("acorn") | undefined;

/** Parses with acorn, which is loaded with the first expression: 8 ms that workflows without expressions do not pay. */
function parse(source: string): AnyNode {
  acorn ??= createRequire(import.meta.url)("acorn") as typeof import("acorn");
  return acorn.parse(source, { ecmaVersion: "latest" });
}

/**
 * Collects what code declares and what it reads. All scopes count as one: a name that is declared anywhere counts as
 * declared everywhere. This misses a mistake now and then, but never reports a false one.
 */
class NameWalk {
  readonly #start: number;
  readonly #reads: NameRead[] = [];
  readonly #declared = new Set<string>();
  readonly #literals: string[] = [];
  readonly #bindings = new Set<AnyNode>();
  readonly #parents: AnyNode[] = [];

  constructor(start: number) {
    this.#start = start;
  }

  walk(tree: AnyNode): NamesInText {
    this.#visit(tree);
    const reads = this.#reads.filter(({ path }) => !this.#declared.has(path[0]!.name));
    return {
      reads,
      declared: this.#declared,
      hidden: reads.some(({ path }) => path[0]!.name === GLOBAL_OBJECT),
      literals: this.#literals,
      prints: [],
    };
  }

  #visit(node: AnyNode): void {
    this.#declare(node);
    if (node.type === "Identifier" && !this.#bindings.has(node)) this.#read(node.name, node);
    if (node.type === "Literal" && typeof node.value === "string" && node.start >= this.#start)
      this.#literals.push(node.value);
    this.#parents.push(node);
    this.#visitChildren(node);
    this.#parents.pop();
  }

  #visitChildren(node: AnyNode): void {
    for (const [key, part] of Object.entries(node) as [string, unknown][]) {
      if (typeof part !== "object" || part === null || isOnlyAWord(node, key)) continue;
      if (!Array.isArray(part)) {
        if (isNode(part)) this.#visit(part);
      } else for (const child of part as unknown[]) if (isNode(child)) this.#visit(child);
    }
  }

  #declare(node: AnyNode): void {
    switch (node.type) {
      case "VariableDeclarator":
        return this.#bind(node.id);
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        for (const parameter of node.params) this.#bind(parameter);
        if (node.id) this.#bind(node.id);
        return;
      case "ClassDeclaration":
      case "ClassExpression":
        if (node.id) this.#bind(node.id);
        return;
      case "CatchClause":
        if (node.param) this.#bind(node.param);
        return;
      default:
        return;
    }
  }

  #bind(pattern: Pattern): void {
    switch (pattern.type) {
      case "Identifier":
        this.#bindings.add(pattern);
        this.#declared.add(pattern.name);
        return;
      case "ObjectPattern":
        for (const property of pattern.properties)
          this.#bind(property.type === "RestElement" ? property.argument : property.value);
        return;
      case "ArrayPattern":
        for (const element of pattern.elements) if (element !== null) this.#bind(element);
        return;
      case "AssignmentPattern":
        return this.#bind(pattern.left);
      case "RestElement":
        return this.#bind(pattern.argument);
      case "MemberExpression":
        return;
      default:
        pattern satisfies never;
    }
  }

  /** Records a name together with the members that are written out after it. */
  #read(name: string, identifier: AnyNode): void {
    const path: NamePart[] = [{ name, at: identifier.start - this.#start }];
    let node = identifier;
    let asked = false;
    for (let depth = this.#parents.length - 1; depth >= 0; depth--) {
      const parent = this.#parents[depth]!;
      if (parent.type === "MemberExpression" && parent.object === node) {
        if (parent.optional && path.length === 2) asked = true;
        const member = memberName(parent);
        if (member === null) break;
        path.push({ name: member, at: parent.property.start - this.#start });
      } else if (parent.type !== "ChainExpression") {
        const target = takenApart(parent, node, this.#parents[depth - 1]);
        if (target !== null) return this.#readParts(path, target);
        if (path.length === 2) asked ||= asksFor(parent, node);
        break;
      }
      node = parent;
    }
    this.#reads.push({ path, asked });
  }

  /** `const { build, test = null } = outputs` reads `outputs.build` and `outputs.test`. */
  #readParts(path: readonly NamePart[], { properties }: ObjectPattern): void {
    for (const property of properties) {
      const member = property.type === "RestElement" ? null : keyName(property);
      const at = property.start - this.#start;
      if (property.type === "RestElement" || member === null) this.#reads.push({ path, asked: false });
      else {
        const asked = path.length === 1 && property.value.type === "AssignmentPattern";
        this.#reads.push({ path: [...path, { name: member, at }], asked });
      }
    }
    if (properties.length === 0) this.#reads.push({ path, asked: false });
  }
}

/** Whether a node only checks that a value exists. */
function asksFor(node: AnyNode, value: AnyNode): boolean {
  switch (node.type) {
    case "LogicalExpression":
      return node.left === value;
    case "ConditionalExpression":
    case "IfStatement":
      return node.test === value;
    case "UnaryExpression":
      return node.operator === "!" || node.operator === "typeof";
    case "BinaryExpression":
      return /^[!=]==?$/.test(node.operator) && [node.left, node.right].some(isNothing);
    default:
      return false;
  }
}

function isNothing(node: AnyNode): boolean {
  return (
    (node.type === "Identifier" && node.name === "undefined") ||
    (node.type === "Literal" && node.value === null && node.raw === "null")
  );
}

/** The destructuring pattern for `value`, if destructuring is all that the node does with it. */
function takenApart(node: AnyNode, value: AnyNode, parent: AnyNode | undefined): ObjectPattern | null {
  if (node.type === "VariableDeclarator" && node.init === value)
    return node.id.type === "ObjectPattern" ? node.id : null;
  // Inside a larger expression, an assignment also passes the whole value on.
  if (node.type === "AssignmentExpression" && node.right === value && parent?.type === "ExpressionStatement")
    return node.operator === "=" && node.left.type === "ObjectPattern" ? node.left : null;
  return null;
}

function memberName(node: AnyNode & { type: "MemberExpression" }): string | null {
  const { property, computed } = node;
  if (!computed) return property.type === "Identifier" ? property.name : null;
  return constantKey(property);
}

function keyName(node: { key: AnyNode; computed: boolean }): string | null {
  return !node.computed && node.key.type === "Identifier" ? node.key.name : constantKey(node.key);
}

/** The key in `['a']`, `[0]` or a template literal without substitutions; null for any other node. */
function constantKey(node: AnyNode): string | null {
  if (node.type === "Literal" && (typeof node.value === "string" || typeof node.value === "number"))
    return String(node.value);
  if (node.type === "TemplateLiteral" && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? null;
  return null;
}

/** Whether an identifier is a member, key or label and not a variable. */
function isOnlyAWord(node: AnyNode, key: string): boolean {
  switch (node.type) {
    case "MemberExpression":
      return key === "property" && !node.computed;
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
      return key === "key" && !node.computed;
    case "LabeledStatement":
    case "BreakStatement":
    case "ContinueStatement":
      return key === "label";
    case "MetaProperty":
      return true;
    default:
      return false;
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
