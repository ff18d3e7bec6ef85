import { edgesAmong, targetsOf } from "./make-targets.js";

/** A project's folder as `init` sees it: the texts of known files, and the names of all. */
export interface ProjectFolder {
  has(file: string): boolean;
  read(file: string): string | null;
}

export interface ProjectWorkflow {
  /** The file that the steps are derived from. */
  readonly from: string;
  readonly text: string;
}

interface FirstStep {
  readonly id: string;
  readonly exec: string;
  /** Why the step may fail, and what is done then. */
  readonly comment?: string;
  readonly onFail?: string;
  readonly isRepair?: boolean;
  /** The steps that it waits for. By default the one before it. */
  readonly after?: readonly string[];
}

const NETWORK = "Downloads fail now and then: trying again after a pause is enough.";
const REPAIR = "When it fails, the repair runs and then the step once more.";
const FLAKY = "A test that fails once and then passes is counted as flaky: see `daruma flakes`.";
const RETRY_DOWNLOAD = "retry: { max: 2, backoff: { mode: exponential, delay_ms: 2000 } }";
const RETRY_ONCE = "retry: { max: 1 }";

/** A workflow that runs the project's own tools. Null if nothing in the folder says which ones. */
export function projectWorkflow(folder: ProjectFolder): ProjectWorkflow | null {
  for (const [from, stepsOf] of [
    ["package.json", packageSteps],
    ["pyproject.toml", pythonSteps],
    ["Makefile", makeSteps],
  ] as const) {
    const text = folder.read(from);
    const steps = text === null ? [] : stepsOf(text, folder);
    if (steps.some(({ isRepair }) => isRepair !== true)) return { from, text: workflowText(from, steps) };
  }
  return null;
}

function packageSteps(text: string, folder: ProjectFolder): FirstStep[] {
  const scripts = scriptsOf(text);
  const manager = folder.has("pnpm-lock.yaml") ? "pnpm" : folder.has("yarn.lock") ? "yarn" : "npm";
  const locked = folder.has("package-lock.json") ? "npm ci" : "npm install";
  const install = {
    npm: locked,
    pnpm: "pnpm install --frozen-lockfile",
    yarn: "yarn install --frozen-lockfile",
  };
  const checks = ["lint", "types", "typecheck", "check", "test", "build"].filter((name) => scripts.has(name));
  if (checks.length === 0) return [];
  const fix = ["lint:fix", "fix", "format"].find((name) => scripts.has(name));
  return [
    { id: "install", exec: install[manager], comment: NETWORK, onFail: RETRY_DOWNLOAD },
    ...checks.map((name) => checkStep(name, `${manager} run ${name}`, fix !== undefined)),
    ...(fix !== undefined && checks.includes("lint")
      ? [{ id: "lint-fix", exec: `${manager} run ${fix}`, isRepair: true }]
      : []),
  ];
}

function scriptsOf(text: string): ReadonlySet<string> {
  try {
    const { scripts } = JSON.parse(text) as { readonly scripts?: object };
    return new Set(Object.keys(scripts ?? {}));
  } catch {
    return new Set();
  }
}

function pythonSteps(text: string): FirstStep[] {
  const uses = (tool: string): boolean => new RegExp(`\\b${tool}\\b`).test(text);
  const [ruff, pytest] = [uses("ruff"), uses("pytest")];
  if (!ruff && !pytest) return [];
  return [
    { id: "install", exec: "python -m pip install --editable .", comment: NETWORK, onFail: RETRY_DOWNLOAD },
    ...(ruff ? [checkStep("lint", "ruff check .", true)] : []),
    ...(pytest ? [checkStep("test", "python -m pytest", false)] : []),
    ...(ruff ? [{ id: "lint-fix", exec: "ruff check --fix .", isRepair: true }] : []),
  ];
}

function makeSteps(text: string): FirstStep[] {
  const rules = targetsOf(text);
  const wanted = ["install", "deps", "lint", "check", "build", "test"].filter((name) => rules.has(name));
  const edges = edgesAmong(wanted, rules);
  return wanted.map((name) => ({ ...checkStep(name, `make ${name}`, false), after: edges.get(name) ?? [] }));
}

function checkStep(id: string, exec: string, hasRepair: boolean): FirstStep {
  if (id === "lint" && hasRepair) return { id, exec, comment: REPAIR, onFail: "run: [lint-fix]" };
  return id === "test" ? { id, exec, comment: FLAKY, onFail: RETRY_ONCE } : { id, exec };
}

function workflowText(from: string, steps: readonly FirstStep[]): string {
  const ordered = steps.filter(({ isRepair }) => isRepair !== true);
  const written = steps.map((step) => {
    const before = ordered[ordered.indexOf(step) - 1];
    const after = step.isRepair === true ? [] : (step.after ?? (before === undefined ? [] : [before.id]));
    return [
      ...(step.comment === undefined ? [] : [`  # ${step.comment}`]),
      ...(step.isRepair === true ? ["  # Runs only when a step asks for it."] : []),
      `  ${step.id}:`,
      "    type: command",
      ...(after.length === 0 ? [] : [`    depends_on: [${after.join(", ")}]`]),
      `    exec: ${step.exec}`,
      ...(step.onFail === undefined ? [] : ["    on_fail:", `      ${step.onFail}`]),
      "",
    ].join("\n");
  });
  return `# Made from ${from}. Each step says what happens when it fails; change it as you like.\nname: ci\n\nsteps:\n${written.join("\n")}`;
}
