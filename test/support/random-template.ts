import type { Random } from "../sim/random.js";

const PATHS = [
  ...[
    "inputs.a",
    "inputs.dry-run",
    "inputs['dry-run']",
    "attempt",
    "pr.title",
    "files",
    "env.CI",
    "step.tags",
  ],
  ...["outputs.build", "outputs.build.n", "outputs.lint-fix", "outputs['test']", "['outputs'].build.files"],
  ...["outputs.history.build", "outputs", "outputs.size", "error.code", "foreach.key", "state._last_error"],
  ...["'outputs.test'", "5", "true", "nil", "(1..attempt)"],
];
const FILTERS = [
  ...["upcase", "json", "size", "sh", "default: outputs.test", "append: inputs.a", "join: error.code"],
  ...["first", "slice: attempt, 2"],
];
const OWN_NAMES = ["v0", "v1", "error", "outputs"] as const;
const NOWHERE_NAMES = ["nope", "outptus", "JSON"] as const;

export interface RandomTemplate {
  readonly template: string;
  /** Names of nowhere that it reads. */
  readonly unknown: ReadonlySet<string>;
}

/** A template that mostly renders, with names of its own that may hide those of a run. */
export function randomTemplate(random: Random): RandomTemplate {
  const unknown = new Set<string>();
  const value = (): string => {
    if (random.chance(0.04)) {
      const name = random.pick(NOWHERE_NAMES);
      unknown.add(name);
      return name;
    }
    if (random.chance(0.2)) return random.pick(OWN_NAMES);
    return random.chance(0.1) ? `outputs[${random.pick(["v0", "step.id"])}]` : random.pick(PATHS);
  };
  const filtered = () => [value(), ...random.some(FILTERS, 2)].join(" | ");
  const piece = (depth: number): string => {
    const inner = () => (depth === 0 ? "x" : pieces(random.between(1, 2), depth - 1));
    const own = random.pick(OWN_NAMES);
    const forms: (() => string)[] = [
      () => `{{ ${filtered()} }}`,
      () => `{{- ${filtered()} -}} outputs.test `,
      () =>
        `{% if ${value()} == ${value()} and ${value()} %}${inner()}{% elsif ${value()} %}${inner()}{% else %}${inner()}{% endif %}`,
      () => `{% unless ${value()} %}${inner()}{% endunless %}`,
      () => `{% for ${own} in ${value()} limit: 2 %}${inner()}{{ ${own} }}{{ forloop.index }}{% endfor %}`,
      () => `{% assign ${own} = ${filtered()} %}`,
      () => `{% capture ${own} %}${inner()}{% endcapture %}`,
      () => `{% case ${value()} %}{% when ${value()}, 'x' %}${inner()}{% else %}${inner()}{% endcase %}`,
      () => `{% echo ${filtered()} %}`,
      () => "{% raw %}{{ outptus }}{% endraw %}{% comment %}{{ nope }}{% endcomment %}",
    ];
    return random.pick(forms)();
  };
  const pieces = (count: number, depth: number): string =>
    Array.from({ length: count }, () => piece(depth)).join("\n");
  const declared = "{% assign v0 = 1 %}{% capture v1 %}x{% endcapture %}";
  return { template: `${declared}${pieces(random.between(1, 4), 2)}`, unknown };
}
