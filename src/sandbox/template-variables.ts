const OUTPUTS = /(?<![\w$])outputs(?![\w$])/g;
/** `.name` or `?.name`. Liquid's names may have hyphens; in JavaScript they are a minus sign. */
const DOT_ACCESS = /^\s*\??\.\s*([A-Za-z_$][\w$]*(?:-[\w$-]*)?)/;
/** `["name"]` or `?.["name"]`, the text being all there is between the brackets. */
const BRACKET_ACCESS = /^\s*(?:\?\.)?\s*\[\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|`([^`\\$]*)`)\s*\]/;
/** Ways to reach a variable without writing its name: the global object, or the name with an escape in it. */
const HIDDEN_NAME = /globalThis|\\[ux]/;
const LIQUID_PART = /\{\{.*?\}\}|\{%.*?%\}/gs;
/** `{{ [name].x }}`: brackets that follow no name look their content up among the variables. */
const COMPUTED_VARIABLE = /(?<![\w\]-])\[/;
/** Liquid answers these from the whole object. */
const WHOLE_OBJECT = new Set(["size", "first", "last", ...Object.getOwnPropertyNames(Object.prototype)]);

/**
 * The steps whose outputs an expression or a template may read, so that it need not be given all. Looks at the text,
 * not at its meaning, and when in doubt answers "all": a name too many costs time, one too few a wrong result.
 * `outputs.history` counts as the name `history`.
 */
export function outputsNamed(codeOrTemplate: string): readonly string[] | "all" {
  if (HIDDEN_NAME.test(codeOrTemplate) || hasComputedVariable(codeOrTemplate)) return "all";
  const names = new Set<string>();
  for (const match of codeOrTemplate.matchAll(OUTPUTS)) {
    const rest = codeOrTemplate.slice(match.index + match[0].length);
    const found = namesAtStart(rest);
    if (found === null || found.some((name) => WHOLE_OBJECT.has(name))) return "all";
    for (const name of found) names.add(name);
  }
  return [...names];
}

function hasComputedVariable(template: string): boolean {
  return (template.match(LIQUID_PART) ?? []).some((part) => COMPUTED_VARIABLE.test(part));
}

function namesAtStart(rest: string): string[] | null {
  const bracket = BRACKET_ACCESS.exec(rest);
  if (bracket !== null) return [bracket[1] ?? bracket[2] ?? bracket[3] ?? ""];
  const dotted = DOT_ACCESS.exec(rest)?.[1];
  return dotted === undefined ? null : readingsOf(dotted);
}

/** `lint-fix` is the step `lint-fix` in a template, and `lint` minus `fix` in an expression. */
function readingsOf(name: string): string[] {
  const parts = name.split("-");
  return parts.map((_, index) => parts.slice(0, index + 1).join("-"));
}
