import type { Random } from "../sim/random.js";

/** What random code may read; all of it exists. */
export const CODE_VARIABLES = {
  inputs: { a: 1, "dry-run": true },
  outputs: {
    build: { n: 2, files: ["x", "y"] },
    test: "ok",
    "lint-fix": [1, 2],
    history: { build: [{ n: 1 }, { n: 2 }], test: [], "lint-fix": [[1]] },
  },
  error: { message: "m", code: "C", class: "application", stdout: "", stderr: "e", exitCode: 3 },
  foreach: { key: "k", index: 0, total: 2, path: "root/list[0]" },
  step: { id: "s", tags: ["t"], group: null },
  state: { _last_error: null },
  env: { CI: "1" },
  attempt: 1,
  visit: 1,
  loop: 0,
  pr: { title: "t" },
  files: ["f"],
} as const;

/** Names that nothing declares. */
const NOWHERE_NAMES = ["nope", "outptus", "process"] as const;

const PATHS = [
  ...["inputs.a", "inputs['dry-run']", "attempt", "visit", "pr.title", "files.length", "env.CI"],
  ...["outputs.build", "outputs.build.n", "outputs['lint-fix']", "outputs?.test", "outputs[`build`].files"],
  ...["outputs.history.build.length", "outputs.test ?? 1", "outputs.build?.n", "outputs['te' + 'st']"],
  ...[
    "error.code",
    "error?.message",
    "foreach.key",
    "step.tags[0]",
    "state._last_error",
    "state._last_error?.code",
  ],
  ...[
    "outputs",
    "Object.keys(outputs).length",
    "inputs",
    "'build' in outputs",
    "outputs.hasOwnProperty('test')",
  ],
  ...["Math.max(1, 2)", "Date.now()", "undefined", "[...files]", "JSON.stringify(outputs)"],
];
/** Names that code declares somewhere, not always where it reads them. */
export const OWN_NAMES = ["v0", "v1", "v2", "v3", "error", "outputs", "step"] as const;

export interface RandomCode {
  readonly code: string;
  /** Names of nowhere that it reads. */
  readonly unknown: ReadonlySet<string>;
}

/** A program that mostly works, with names of its own that may hide those of a run. */
export function randomCode(random: Random): RandomCode {
  const maker = new CodeMaker(random);
  const isBody = random.chance(0.6);
  const code = isBody
    ? `${maker.statements(random.between(1, 4), 2)}return ${maker.expression(2)};`
    : maker.expression(3);
  return { code, unknown: maker.unknown };
}

class CodeMaker {
  readonly unknown = new Set<string>();
  readonly #inScope: string[] = [];

  constructor(private readonly random: Random) {}

  expression(depth: number): string {
    if (depth === 0) return this.#leaf();
    const part = () => this.expression(depth - 1);
    const forms: (() => string)[] = [
      () => this.#leaf(),
      () => `(${part()} ${this.random.pick(["+", "===", "&&", "||", "<", ","])} ${part()})`,
      () => `(${part()} ? ${part()} : ${part()})`,
      () => `[${part()}, ...[${part()}]]`,
      () => `({ key: ${part()}, [${part()}]: 1, method() { return ${part()} } })`,
      () => `\`text \${${part()}}\``,
      () => `typeof ${part()}`,
      () => `(void ${part()})`,
      () => `outputs[(0, ${part()})]`,
      () => `String(${part()})`,
      () => this.#within((name) => `((${name}) => ${part()})(${part()})`),
      () => this.#within((name) => `(({ a: ${name} = ${part()}, ...rest }) => ${part()})({})`),
      () => this.#within((name) => `(function ${name}() { return ${part()} })()`),
      () =>
        this.#within((name) => `[1].map(([${name}] = [${part()}]) => ${part()})`).replace(
          "[1].map",
          "[[1]].map",
        ),
    ];
    return this.random.pick(forms)();
  }

  statements(count: number, depth: number): string {
    let text = "";
    for (let made = 0; made < count; made++) text += `${this.#statement(depth)}\n`;
    return text;
  }

  #statement(depth: number): string {
    const part = () => this.expression(Math.max(0, depth - 1));
    const block = () => (depth === 0 ? "" : this.#inBlock(() => this.statements(1, depth - 1)));
    const forms: (() => string)[] = [
      () => this.#declaring((name) => `var ${name} = ${part()};`),
      () => this.#declaring((name) => `var { build: ${name} = ${part()} } = outputs;`),
      () => this.#declaring((name) => `var [${name}] = [${part()}];`),
      () => this.#declaring((name) => `function ${name}(p) { return p ? ${part()} : 1 }`),
      () => `if (${part()}) { ${block()} } else { ${block()} }`,
      () => this.#within((name) => `for (const ${name} of [${part()}]) { ${block()} break; }`),
      () => this.#within((name) => `try { ${part()}; ${block()} } catch (${name}) { ${part()} }`),
      () => `here: { ${part()}; break here; }`,
      () => this.#within((name) => `{ class ${name} { x = ${part()}; static y() { return ${part()} } } }`),
      () => `switch (${part()}) { case ${part()}: ${block()} break; default: }`,
      () => `${part()};`,
    ];
    return this.random.pick(forms)();
  }

  #leaf(): string {
    if (this.random.chance(0.05)) {
      const name = this.random.pick(NOWHERE_NAMES);
      this.unknown.add(name);
      return this.random.chance(0.5) ? name : `${name}.x`;
    }
    if (this.#inScope.length > 0 && this.random.chance(0.3)) return this.random.pick(this.#inScope);
    return this.random.chance(0.7)
      ? this.random.pick(PATHS)
      : this.random.pick(["1", "'outputs.test'", "null", "/outptus/"]);
  }

  #within(make: (name: string) => string): string {
    return this.#inBlock(() => this.#declaring(make));
  }

  #declaring(make: (name: string) => string): string {
    const name = this.random.pick(OWN_NAMES);
    this.#inScope.push(name);
    return make(name);
  }

  #inBlock(make: () => string): string {
    const before = this.#inScope.length;
    const text = make();
    this.#inScope.length = before;
    return text;
  }
}
