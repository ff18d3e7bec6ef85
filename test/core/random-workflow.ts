import fc from "fast-check";
import type { Definition } from "../../src/core/model/definition.js";
import { loadDefinition } from "../../src/file/load.js";

/** One step as numbers; `buildWorkflow` reads each as a choice among what is allowed at that place. */
const stepShape = fc.record({
  dependencies: fc.array(fc.nat(20), { maxLength: 3 }),
  joinsLastTwo: fc.boolean(),
  fan: fc.constantFrom("none", "none", "none", "forEach", "reduce"),
  join: fc.constantFrom("all", "any", "at_least"),
  retries: fc.nat(2),
  delayMs: fc.constantFrom(0, 0, 100),
  failGoto: fc.option(fc.nat(20), { freq: 2 }),
  failGotoJs: fc.boolean(),
  failGotoMax: fc.option(fc.nat(2), { freq: 1 }),
  failRun: fc.array(fc.nat(20), { maxLength: 2 }),
  failRunJs: fc.boolean(),
  successGoto: fc.option(fc.nat(20), { freq: 5 }),
  successGotoJs: fc.boolean(),
  successGotoMax: fc.option(fc.nat(2), { freq: 1 }),
  successRun: fc.array(fc.nat(20), { maxLength: 2 }),
  hasIf: fc.boolean(),
  continues: fc.boolean(),
  handler: fc.option(fc.nat(2), { freq: 2 }),
  human: fc.constantFrom(null, null, null, null, null, null, null, "patient", "hasty"),
  rare: fc.nat(3),
});
type StepShape = typeof stepShape extends fc.Arbitrary<infer T> ? T : never;

const edgeShape = fc.record({
  from: fc.nat(20),
  to: fc.nat(20),
  on: fc.constantFrom("success", "failure", "failure", "failure", "any"),
  when: fc.constantFrom(null, null, null, "expression", "error", "no error"),
});

const workflowShape = fc.record({
  edges: fc.array(edgeShape, { maxLength: 6 }),
  holds: fc.constantFrom(false, false, true, "fail", "retry", "skip", "complete"),
  steps: fc.array(stepShape, { minLength: 1, maxLength: 9 }),
  routed: fc.array(
    fc.record({
      retries: fc.nat(1),
      dependency: fc.option(fc.nat(20), { freq: 3 }),
      successRun: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  maxLoops: fc.nat(5),
  failFast: fc.constantFrom(false, false, false, true),
  maxRecoveries: fc.nat(2),
  healing: fc.record({
    workspace: fc.boolean(),
    selfHeal: fc.option(fc.record({ attempts: fc.nat(3), limit: fc.nat(2), resets: fc.nat(2) })),
    rounds: fc.option(fc.nat(2), { freq: 2 }),
  }),
});
type WorkflowShape = typeof workflowShape extends fc.Arbitrary<infer T> ? T : never;

interface Placed {
  readonly id: string;
  /** The fan-outs that enclose the step, and those that enclose its dependents. */
  readonly path: readonly string[];
  readonly innerPath: readonly string[];
  readonly ancestors: ReadonlySet<string>;
}

type Keys = { [key: string]: unknown };

export interface RandomWorkflow {
  readonly definition: Definition;
  /** For the report of a counterexample. */
  readonly [fc.toStringMethod]: () => string;
}

/** Small valid workflows with every kind of routing, loaded as a file would be. */
export const randomWorkflow: fc.Arbitrary<RandomWorkflow> = workflowShape.map(buildWorkflow);

function healing({ healing: { workspace, selfHeal, rounds } }: WorkflowShape): Keys {
  return {
    ...(workspace ? { workspace: {} } : {}),
    ...(selfHeal === null
      ? {}
      : {
          self_heal: {
            step_max_attempts: selfHeal.attempts + 1,
            step_no_progress_limit: selfHeal.limit + 1,
            job_self_heal_max_resets: selfHeal.resets,
          },
        }),
    ...(rounds === null
      ? {}
      : { queue: { max_attempts: rounds + 1, classes: ["stuck_no_progress", "application"] } }),
  };
}

/** Two of three steps work there. */
function moveIntoWorkspace(steps: { [id: string]: Keys }): void {
  Object.values(steps).forEach((keys, index) => {
    if (keys.type !== "noop" || index % 3 === 2) return;
    keys.type = "command";
    keys.exec = "edit";
  });
}

function buildWorkflow(shape: WorkflowShape): RandomWorkflow {
  const placed: Placed[] = [];
  const steps: { [id: string]: Keys } = {};
  shape.steps.forEach((step, index) => {
    const keys = placeStep(step, index, placed);
    steps[placed.at(-1)!.id] = keys;
  });
  const routed = shape.routed.map((_, index) => `r${index}`);
  for (const [index, step] of shape.steps.entries())
    addRouting(steps[`s${index}`]!, step, placed[index]!, placed, routed);
  shape.routed.forEach(({ retries, dependency, successRun }, index) => {
    const root = placed.filter(({ path, innerPath }) => path.length === 0 && innerPath.length === 0);
    const before = dependency === null ? undefined : pick(root, dependency);
    steps[`r${index}`] = {
      type: "noop",
      start: "routed",
      ...(before === undefined ? {} : { depends_on: [before.id] }),
      ...(retries > 0 ? { on_fail: { retry: { max: retries } } } : {}),
      ...(successRun && index > 0 ? { on_success: { run: ["r0"] } } : {}),
    };
  });
  dropRunsAcrossScopes(steps, placed, shape.routed);
  if (shape.healing.workspace) moveIntoWorkspace(steps);
  const text = JSON.stringify({
    ...(shape.holds === false ? {} : { unhandled: "hold" }),
    ...(typeof shape.holds === "string"
      ? { hold: { expires: 50, then: shape.holds === "complete" ? { complete: ["a", "b"] } : shape.holds } }
      : {}),
    ...healing(shape),
    failure_handlers: HANDLERS,
    transitions: transitionsOf(shape, placed, steps),
    routing: { max_loops: shape.maxLoops },
    max_recoveries: shape.maxRecoveries,
    failure_policy: shape.failFast ? "fail_fast" : "finish_independent",
    steps,
  });
  const loaded = loadDefinition(text, {
    file: "random.json",
    checkExpression: () => null,
    checkTemplate: () => null,
  });
  if (!loaded.ok)
    throw new Error(
      `${JSON.stringify(loaded.problems.map(({ code, message }) => `${code} ${message}`))}\n${text}`,
    );
  return { definition: loaded.definition, [fc.toStringMethod]: () => text };
}

const HANDLERS = [
  { name: "h0", rules: [{ match_all_exit_codes: true, max_retries: 2 }] },
  { name: "h1", rules: [{ exit_codes: [10], recovery_script: "./fix.sh", max_retries: 3 }] },
  {
    name: "h2",
    rules: [
      { match_all_exit_codes: true, recovery_script: "./tidy.sh", max_retries: 2 },
      { exit_codes: [10], max_retries: 4 },
    ],
  },
];

/** Between any two steps of one scope, or to a routed step that depends on nothing. */
function transitionsOf(
  shape: WorkflowShape,
  placed: readonly Placed[],
  steps: { readonly [id: string]: Keys },
): Keys[] {
  const root: readonly string[] = [];
  const free = Object.keys(steps).filter((id) => id.startsWith("r"));
  return shape.edges.flatMap(({ from, to, on, when }) => {
    const source = pick([...placed, ...free.map((id) => ({ id, path: root }))], from)!;
    const targets = [
      ...placed.filter(({ path }) => path.join() === source.path.join()).map(({ id }) => id),
      ...free.filter((id) => source.path.length === 0 || steps[id]!.depends_on === undefined),
    ].filter((id) => id !== source.id);
    const target = pick(targets, to);
    if (target === undefined) return [];
    return [{ from: source.id, to: target, on, ...conditionOf(when) }];
  });
}

function conditionOf(when: string | null): Keys {
  if (when === null) return {};
  if (when === "expression") return { when: "outputs.x > 1" };
  const exists = { type: "exists", field: "state._last_error" };
  return { when: when === "error" ? exists : { type: "not", condition: exists } };
}

/** A step's dependencies among the earlier ones, as many as fit under one row of fan-outs. */
function placeStep(shape: StepShape, index: number, placed: Placed[]): Keys {
  const chosen: Placed[] = [];
  let deepest: readonly string[] = [];
  for (const choice of shape.dependencies) {
    const candidate = pick(placed, choice);
    if (candidate === undefined || chosen.includes(candidate)) continue;
    const [outer, inner] =
      candidate.innerPath.length < deepest.length
        ? [candidate.innerPath, deepest]
        : [deepest, candidate.innerPath];
    if (!outer.every((id, depth) => inner[depth] === id)) continue;
    chosen.push(candidate);
    deepest = inner;
  }
  const id = `s${index}`;
  const reduces = shape.fan === "reduce" && deepest.length > 0;
  const path = reduces ? deepest.slice(0, -1) : deepest;
  const opens = shape.fan === "forEach" && path.length < 2;
  const ancestors = new Set(chosen.flatMap((step) => [step.id, ...step.ancestors]));
  placed.push({ id, path, innerPath: opens ? [...path, id] : path, ancestors });
  const names = chosen.map((step) => step.id);
  const groups =
    shape.joinsLastTwo && names.length > 1 ? [...names.slice(0, -2), names.slice(-2).join("|")] : names;
  return {
    ...(shape.human === null || opens ? { type: "noop" } : { type: "human", prompt: "Go on?" }),
    ...(shape.human === "hasty" && !opens ? { timeout_ms: 50 } : {}),
    ...(shape.handler === null ? {} : { failure_handler: `h${shape.handler}` }),
    start: "auto",
    ...(groups.length > 0 ? { depends_on: groups } : {}),
    ...(opens ? { forEach: true } : {}),
    ...(reduces ? { fanout: "reduce", join: shape.join === "at_least" ? { at_least: 2 } : shape.join } : {}),
    ...(shape.hasIf && shape.rare === 0 ? { if: "true" } : {}),
    ...(shape.continues && shape.rare === 2 && groups.length > 0 && !reduces ? { needs: "settled" } : {}),
    ...(shape.continues && shape.rare === 1 ? { continue_on_failure: true } : {}),
  };
}

function addRouting(
  keys: Keys,
  shape: StepShape,
  step: Placed,
  all: readonly Placed[],
  routed: readonly string[],
): void {
  const isSameScope = (other: Placed): boolean => other.path.join() === step.path.join();
  const back = all
    .filter((other) => step.ancestors.has(other.id) && isSameScope(other))
    .map((other) => other.id);
  const repair = [
    ...routed,
    ...routed,
    ...all
      .filter((other) => other !== step && isSameScope(other) && !other.ancestors.has(step.id))
      .map((other) => other.id),
  ];
  // Only backward, since steps that run each other on success in a circle are refused.
  const earlier = repair.filter(
    (id) => routed.includes(id) || Number(id.slice(1)) < Number(step.id.slice(1)),
  );
  const onFail = {
    ...(shape.retries > 0
      ? { retry: { max: shape.retries, backoff: { mode: "fixed", delay_ms: shape.delayMs } } }
      : {}),
    ...routing(
      shape.failRun,
      shape.failRunJs && shape.rare < 2,
      shape.failGoto,
      shape.failGotoJs && shape.rare > 1,
      shape.failGotoMax,
      repair,
      back,
    ),
  };
  const onSuccess = routing(
    shape.rare === 2 ? shape.successRun : [],
    false,
    shape.successGoto,
    shape.successGotoJs && shape.rare === 3,
    shape.successGotoMax,
    earlier,
    back,
  );
  if (Object.keys(onFail).length > 0) keys.on_fail = onFail;
  if (Object.keys(onSuccess).length > 0) keys.on_success = onSuccess;
}

function routing(
  run: readonly number[],
  runJs: boolean,
  goto: number | null,
  gotoJs: boolean,
  gotoMax: number | null,
  repair: readonly string[],
  back: readonly string[],
): Keys {
  const list = [...new Set(run.map((choice) => pick(repair, choice)).filter((id) => id !== undefined))];
  const target = goto === null ? undefined : pick(back, goto);
  return {
    ...(list.length > 0 ? { run: list } : {}),
    ...(runJs ? { run_js: "[]" } : {}),
    ...(target === undefined ? {} : { goto: target }),
    ...(gotoJs ? { goto_js: "null" } : {}),
    ...(gotoMax === null || (target === undefined && !gotoJs) ? {} : { goto_max: gotoMax }),
  };
}

/** A routed step with a dependency lies in the root scope, and must not be named by what it depends on. */
function dropRunsAcrossScopes(
  steps: { [id: string]: Keys },
  placed: readonly Placed[],
  routed: WorkflowShape["routed"],
): void {
  const ancestorsOf = new Map(placed.map((step) => [step.id, step]));
  const bound = new Map<string, string>(
    routed.flatMap((_, index) => {
      const before = (steps[`r${index}`]!.depends_on as string[] | undefined)?.[0];
      return before === undefined ? [] : [[`r${index}`, before] as const];
    }),
  );
  for (const { id, path } of placed) {
    for (const key of ["on_fail", "on_success"]) {
      const routes = steps[id]![key] as { run?: string[] } | undefined;
      if (routes?.run === undefined) continue;
      const kept = routes.run.filter((target) => {
        const before = bound.get(target);
        if (before === undefined) return true;
        return path.length === 0 && before !== id && !ancestorsOf.get(before)!.ancestors.has(id);
      });
      if (kept.length > 0) routes.run = kept;
      else delete routes.run;
      if (Object.keys(routes).length === 0) delete steps[id]![key];
    }
  }
}

function pick<T>(from: readonly T[], choice: number): T | undefined {
  return from.length === 0 ? undefined : from[choice % from.length];
}
