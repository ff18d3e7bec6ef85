import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DarumaError } from "../../../core/errors/errors.js";
import { shellWord } from "../../../tell/words/shell-word.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";

/** A project's folder as `init` sees it: the texts of known files, and the names of all. */
interface ProjectFolder {
  has(file: string): boolean;
  read(file: string): string | null;
}

interface ProjectWorkflow {
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
function projectWorkflow(folder: ProjectFolder): ProjectWorkflow | null {
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

/** A workflow that needs only a shell. Both failures are real, so that `explain` has something to show. */
const FIRST_WORKFLOW = `# Your first workflow. Two of its steps fail, and it completes anyway.
name: first

steps:
  # Fails twice, then works. Trying again after a short pause is enough: a retry.
  fetch:
    type: command
    exec: |
      if [ "$DARUMA_ATTEMPT_ID" -lt 3 ]; then
        echo "503: the mirror is busy" >&2
        exit 75
      fi
      echo "fetched"
    on_fail:
      retry: { max: 3, backoff: { mode: exponential, delay_ms: 200, max_delay_ms: 2000 } }

  # Trying again would not help here. A repair does: lint-fix runs, then test runs once more.
  test:
    type: command
    depends_on: [fetch]
    exec: |
      if [ ! -e "$DARUMA_OUTPUT_DIR/fixed-$DARUMA_RUN_ID" ]; then
        echo "test: 3 lines are badly formatted" >&2
        exit 1
      fi
      echo "all tests pass"
    on_fail:
      run: [lint-fix]

  # Runs only when a step above asks for it.
  lint-fix:
    type: command
    exec: touch "$DARUMA_OUTPUT_DIR/fixed-$DARUMA_RUN_ID"

  publish:
    type: command
    depends_on: [test]
    exec: echo "published"
`;

/** Limit for a file that describes a project. Nobody writes a larger one by hand. */
const MAX_PROJECT_FILE_BYTES = 1_000_000;

interface InitFlags {
  readonly example?: boolean;
}

/**
 * Writes a workflow that fits the folder, or else the first example. Never overwrites, because the file may be
 * somebody's work.
 */
export async function init(file: string, flags: InitFlags, { out, options }: Session): Promise<number> {
  const made = flags.example === true ? null : projectWorkflow(projectFolder(dirname(resolve(file))));
  try {
    writeFileSync(file, made?.text ?? FIRST_WORKFLOW, { flag: "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new DarumaError("FILE_EXISTS", `${file} already exists`, { cause: error });
    throw new DarumaError("USAGE", `cannot write ${file}: ${message}`, {
      hint: "Name a file in a folder that exists and that you can write to.",
      cause: error,
    });
  }
  if (options.json) writeJson(out, { file, made_from: made?.from ?? null });
  else if (!options.quiet)
    writeLines(out, [
      made === null ? `wrote ${file}` : `wrote ${file}, made from ${made.from}`,
      `run it:        daruma run ${shellWord(file)}`,
      "what happened: daruma explain last",
    ]);
  return EXIT.completed;
}

function projectFolder(folder: string): ProjectFolder {
  const entry = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false });
  return {
    has: (name) => entry(name)?.isFile() === true,
    read: (name) => {
      const found = entry(name);
      const isReadable = found?.isFile() === true && found.size <= MAX_PROJECT_FILE_BYTES;
      return isReadable ? readFileSync(join(folder, name), "utf8") : null;
    },
  };
}

/** For each chosen target of a Makefile, the other chosen ones that it waits for. */
type TargetEdges = ReadonlyMap<string, readonly string[]>;

/** Prerequisites by target. Some may be variables. */
type Rules = ReadonlyMap<string, ReadonlySet<string>>;

export function targetsOf(text: string): Rules {
  const rules = new Map<string, Set<string>>();
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const [, targets, needs] = /^([^\s#:=][^#:=]*?)\s*::?(?![:=])([^#;]*)/.exec(line) ?? [];
    if (targets === undefined || /^\.[A-Z]/.test(targets)) continue;
    for (const target of targets.split(/\s+/)) {
      const known = rules.get(target) ?? new Set();
      for (const need of needs!.split(/[\s|]+/)) if (need !== "") known.add(need);
      rules.set(target, known);
    }
  }
  return rules;
}

/**
 * The dependencies among the chosen targets, including those through other targets. Two that share such a target run
 * one after the other, because two processes of make would otherwise build it at the same time.
 */
export function edgesAmong(wanted: readonly string[], rules: Rules): TargetEdges {
  const edges = new Map<string, string[]>();
  const reaches = (from: string, to: string): boolean =>
    (edges.get(from) ?? []).some((next) => next === to || reaches(next, to));
  const add = (from: string, to: string): void => {
    // A cycle is dropped, as make does.
    if (from !== to && !reaches(to, from) && !reaches(from, to))
      edges.set(from, [...(edges.get(from) ?? []), to]);
  };
  const needs = new Map(wanted.map((target) => [target, neededBy(target, rules, new Set(wanted))]));
  for (const target of wanted)
    for (const other of wanted) if (needs.get(target)!.has(other)) add(target, other);
  for (const [at, target] of wanted.entries())
    for (const other of wanted.slice(0, at))
      if ([...needs.get(target)!].some((need) => needs.get(other)!.has(need) && !wanted.includes(need)))
        add(target, other);
  return edges;
}

/** Everything that a target needs, down to the chosen ones. */
function neededBy(target: string, rules: Rules, wanted: ReadonlySet<string>): ReadonlySet<string> {
  const needed = new Set<string>();
  const agenda = [...(rules.get(target) ?? [])];
  for (let need = agenda.pop(); need !== undefined; need = agenda.pop()) {
    if (needed.has(need)) continue;
    needed.add(need);
    if (!wanted.has(need)) agenda.push(...(rules.get(need) ?? []));
  }
  return needed;
}
