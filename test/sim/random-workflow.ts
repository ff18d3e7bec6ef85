import type { Random } from "./random.js";
import { HANDLERS } from "./random-handlers.js";

type Step = { [key: string]: unknown };

interface Placed {
  readonly id: string;
  /** Ids of the enclosing forEach steps, joined: where the step may route to. */
  readonly path: string;
  /** Every step that it depends on, in the same path. */
  readonly ancestors: ReadonlySet<string>;
}

/** Steps of the root that every part of a workflow may call for repair or follow-up. */
const ROUTED = ["fix1", "fix2", "tell"];

/** A valid workflow in which every rule of routing may meet every other. */
export class WorkflowMaker {
  private readonly steps: { [id: string]: Step } = {};
  private readonly placed: Placed[] = [];
  private count = 0;
  private inWorkspace = false;
  private breakers: readonly string[] = [];

  constructor(private readonly random: Random) {}

  make(): string {
    const { random } = this;
    this.inWorkspace = random.chance(0.4);
    this.breakers = random.pick([[], [], ["api"], ["api", "db"]]);
    this.segment("", [], random.between(2, 5));
    if (random.chance(0.5)) this.fanOut("", 0);
    if (random.chance(0.5)) this.segment("", this.plainAt(""), random.between(1, 3));
    for (const id of ROUTED) this.steps[id] = this.routedStep();
    const workflow = {
      name: "sim",
      routing: {
        max_loops: random.between(1, 8),
        ...(random.chance(0.2) ? { defaults: { on_fail: { retry: { max: 1 } } } } : {}),
      },
      failure_policy: random.chance(0.2) ? "fail_fast" : "finish_independent",
      max_recoveries: random.between(0, 3),
      ...(random.chance(0.4) ? { unhandled: "hold" } : {}),
      ...this.healing(),
      ...(this.breakers.length === 0
        ? {}
        : { breakers: Object.fromEntries(this.breakers.map((name) => [name, this.breaker()])) }),
      failure_handlers: HANDLERS,
      transitions: this.transitions(),
      steps: this.steps,
      // Last, so that what the seeds before it made is the same.
      ...(random.chance(0.1) ? { deadline: `${random.between(1, 2_000)}ms` } : {}),
      ...(random.chance(0.4) ? { hold: this.hold() } : {}),
      ...this.endings(),
    };
    this.sayThen(workflow.transitions);
    return JSON.stringify(workflow);
  }

  /** What becomes of failures whose route completes, some of them by an edge of the step; and what outputs must be. */
  private sayThen(transitions: readonly Step[]): void {
    const { random } = this;
    const then = () => random.pick(["continue", "continue", "fail", "skip"]);
    const mayTell = (id: string) => this.steps[id]?.continue_on_failure !== true;
    for (const edge of transitions)
      if (edge.on !== "success" && mayTell(edge.from as string) && random.chance(0.6)) edge.then = then();
    for (const { id, path } of this.placed) {
      if (random.chance(0.1)) this.steps[id]!.outputs = { type: "array" };
      if (!mayTell(id) || !random.chance(0.12)) continue;
      const targets = [...this.at(path).map((step) => step.id), ...ROUTED].filter((to) => to !== id);
      const edge = { to: random.pick(targets), ...(random.chance(0.8) ? { then: then() } : {}) };
      this.steps[id]!.on_fail = { ...(this.steps[id]!.on_fail as Step | undefined), edge };
    }
  }

  private hold(): Step {
    const { random } = this;
    return {
      expires: random.pick([1, 100, 1_000]),
      then: random.pick(["fail", "skip", "retry", "retry", { complete: ["a", "b"] }]),
    };
  }

  /** Steps that undo others, some of them several, and steps that run at the end. */
  private endings(): Step {
    const { random } = this;
    const undoes = random.chance(0.4) ? random.between(1, 3) : 0;
    for (const { id } of undoes === 0 ? [] : this.placed)
      if (random.chance(0.5)) {
        const undo = `undo${random.between(1, undoes)}`;
        this.steps[undo] ??= this.endStep();
        this.steps[id]!.undo = undo;
      }
    const last = random.chance(0.35) ? ["last1", "last2"].slice(0, random.between(1, 2)) : [];
    for (const id of last)
      this.steps[id] = { ...this.endStep(), ...(random.chance(0.2) ? { continue_on_failure: true } : {}) };
    return last.length === 0 ? {} : { finally: last };
  }

  private endStep(): Step {
    const { random } = this;
    return {
      ...(random.chance(0.06) ? this.human() : this.action()),
      ...this.uses(),
      ...(random.chance(0.3) ? { failure_handler: random.pick(HANDLERS).name } : {}),
      ...(random.chance(0.4)
        ? { on_fail: { retry: { max: random.between(1, 2), backoff: { mode: "fixed", delay_ms: 20 } } } }
        : {}),
      ...(random.chance(0.15) ? { if: random.pick(["visit < 2", "false", "nowhere.x"]) } : {}),
    };
  }

  private breaker(): Step {
    const { random } = this;
    return {
      failures: random.between(1, 4),
      within: random.pick(["50ms", "10s"]),
      classes: random.pick([["transient_runtime"], ["application", "transient_runtime"], ["resource"]]),
      probe_every: random.pick(["100ms", "300ms"]),
      max_open: random.pick(["250ms", "2s", "1h"]),
      release: random.pick([10, 100, "30/min"]),
    };
  }

  private uses(): Step {
    const used = this.random.some(this.breakers, 2);
    return used.length === 0 ? {} : { uses: used };
  }

  private healing(): Step {
    const { random } = this;
    const selfHeal = {
      step_max_attempts: random.between(1, 4),
      step_no_progress_limit: random.between(1, 3),
      job_self_heal_max_resets: random.between(0, 3),
    };
    const queue = {
      max_attempts: random.between(1, 3),
      backoff: { mode: "exponential", delay_ms: random.between(1, 60), max_delay_ms: 100 },
      classes: random.pick([
        ["transient_runtime", "stuck_no_progress"],
        ["application", "transient_runtime"],
      ]),
    };
    return {
      ...(this.inWorkspace
        ? { workspace: { repo: ".", ...(random.chance(0.2) ? { on_lost: "keep" } : {}) } }
        : {}),
      ...(random.chance(this.inWorkspace ? 0.8 : 0.1) ? { self_heal: selfHeal } : {}),
      ...(random.chance(0.3) ? { queue } : {}),
    };
  }

  /** In a workflow with a workspace most steps work there. What has no effects may run before its start is committed. */
  private action(): Step {
    const { random } = this;
    if (this.inWorkspace && random.chance(0.7)) return { exec: "edit" };
    return random.chance(0.5) ? { type: "noop" } : { type: "http", url: "http://far.away/" };
  }

  /** From any step to another of its scope, or to a routed one. */
  private transitions(): Step[] {
    const { random } = this;
    const all = [...this.placed, ...ROUTED.map((id) => ({ id, path: "" }))];
    return Array.from({ length: random.pick([0, 1, 3, 6]) }, () => {
      const from = random.pick(all);
      const targets = [...this.at(from.path).map(({ id }) => id), ...ROUTED].filter((id) => id !== from.id);
      const on = random.pick(["success", "failure", "failure", "failure", "any"]);
      return {
        from: from.id,
        to: random.pick(targets),
        on,
        ...(random.chance(0.4) ? { when: this.condition() } : {}),
        ...this.files(),
      };
    });
  }

  /** What becomes of the workspace on the way back. */
  private files(): Step {
    const { random } = this;
    return this.inWorkspace && random.chance(0.5) ? { files: random.pick(["keep", "restore"]) } : {};
  }

  private condition(): unknown {
    const { random } = this;
    const lastError = { type: "exists", field: "state._last_error" };
    const code = {
      type: "comparison",
      operator: "==",
      left: { type: "field", path: "state._last_error.code" },
      right: "EXIT_1",
    };
    return random.pick<unknown>([
      lastError,
      { type: "not", condition: lastError },
      code,
      "visit < 2",
      "nowhere.x",
      { type: "or", conditions: [code, "attempt > 1"] },
    ]);
  }

  private at(path: string): Placed[] {
    return this.placed.filter((step) => step.path === path);
  }

  /** Without forEach steps: what depends on one of those lies in its items. */
  private plainAt(path: string): string[] {
    return this.at(path).flatMap(({ id }) => (this.steps[id]?.forEach === true ? [] : [id]));
  }

  /** A few steps in one path, each behind some of those before it. */
  private segment(path: string, entrances: readonly string[], size: number): void {
    for (let index = 0; index < size; index += 1) {
      const before = [...new Set([...entrances, ...this.plainAt(path)])];
      const chosen = this.random.some(before, 2);
      this.add(path, path !== "" && chosen.length === 0 ? [this.random.pick(before)] : chosen, {});
    }
  }

  /** A forEach step, what happens to each item, and perhaps one or two reducers. */
  private fanOut(path: string, depth: number): void {
    const { random } = this;
    const opener = this.add(
      path,
      path === "" ? random.some(this.plainAt(path), 1) : [random.pick(this.plainAt(path))],
      { forEach: true },
    );
    const inner = path === "" ? opener : `${path}/${opener}`;
    this.segment(inner, [opener], random.between(1, 3));
    if (depth === 0 && random.chance(0.3)) this.fanOut(inner, 1);
    const leaves = this.plainAt(inner);
    for (let reducers = random.between(0, 2); reducers > 0; reducers -= 1) {
      const join = random.pick(["all", "any", { at_least: 2 }]);
      this.add(path, [random.pick(leaves)], { fanout: "reduce", join }, opener);
    }
  }

  private add(path: string, dependencies: readonly string[], extra: Step, through?: string): string {
    const { random } = this;
    this.count += 1;
    const id = `s${this.count}`;
    const ancestors = this.ancestorsOf(path, through === undefined ? dependencies : [through]);
    const groups = dependencies.map((dependency) => this.orGroup(path, dependency));
    this.steps[id] = {
      ...(extra.forEach !== true && random.chance(0.06) ? this.human() : this.action()),
      ...(random.chance(0.3) ? { failure_handler: random.pick(HANDLERS).name } : {}),
      ...(groups.length > 0 ? { depends_on: groups } : {}),
      ...(random.chance(0.3) ? { resource_requirements: { memory: "1m", runtime: "1h" } } : {}),
      start: "auto",
      ...(random.chance(0.12)
        ? { if: random.pick(["visit < 2", "attempt >= 0", "false", "nowhere.x"]) }
        : {}),
      ...(random.chance(0.15) ? { continue_on_failure: true } : {}),
      ...(random.chance(0.6) ? { on_fail: this.onFail([...ancestors]) } : {}),
      ...(random.chance(0.25) ? { on_success: this.onSuccess([...ancestors]) } : {}),
      ...this.uses(),
      ...extra,
    };
    this.placed.push({ id, path, ancestors });
    return id;
  }

  private human(): Step {
    return {
      type: "human",
      prompt: "Go on?",
      ...(this.random.chance(0.5) ? this.patience(this.random.between(10, 80)) : {}),
    };
  }

  private patience(ms: number): Step {
    if (ms % 3 === 0) return { timeout_ms: ms };
    return { expires: ms, then: ms % 3 === 1 ? "fail" : { choose: ms % 2 === 0 ? "approve" : "reject" } };
  }

  private orGroup(path: string, dependency: string): string {
    const others = this.at(path).filter(
      ({ id }) =>
        id !== dependency && this.steps[id]?.forEach !== true && this.steps[dependency]?.forEach !== true,
    );
    return this.random.chance(0.2) &&
      others.length > 0 &&
      this.placed.some(({ id, path: at }) => id === dependency && at === path)
      ? `${dependency}|${this.random.pick(others).id}`
      : dependency;
  }

  /** Or-groups may add more; these are certain. */
  private ancestorsOf(path: string, dependencies: readonly string[]): ReadonlySet<string> {
    const found = new Set<string>();
    for (const dependency of dependencies) {
      const step = this.placed.find(({ id }) => id === dependency);
      if (step === undefined || step.path !== path) continue;
      found.add(dependency);
      for (const ancestor of step.ancestors) found.add(ancestor);
    }
    return found;
  }

  private onFail(ancestors: readonly string[]): Step {
    const { random } = this;
    const mode = random.pick(["none", "fixed", "linear", "exponential"]);
    return {
      ...(random.chance(0.6)
        ? {
            retry: {
              max: random.between(1, 3),
              backoff: { mode, delay_ms: random.between(0, 50), jitter: random.pick([0, 0.5]) },
            },
          }
        : {}),
      ...(random.chance(0.35) ? this.repair() : {}),
      ...(random.chance(0.2)
        ? {
            run_js: random.pick([
              "return ['fix2']",
              "return []",
              "return ['nobody']",
              "throw 1",
              "return visit > 1 ? ['fix1', 'fix2'] : []",
            ]),
          }
        : {}),
      ...(ancestors.length > 0 && random.chance(0.4) ? this.goto(ancestors) : {}),
      ...(ancestors.length > 0 && random.chance(0.2)
        ? {
            goto_js: random.pick([
              `return '${random.pick(ancestors)}'`,
              "return null",
              "return 'nobody'",
              "throw 1",
            ]),
          }
        : {}),
    };
  }

  /** Some of them more than once a visit, in either spelling. */
  private repair(): Step {
    const { random } = this;
    const steps = [random.pick(ROUTED)];
    const max = random.between(0, 3);
    return random.pick<Step>([{ run: steps }, { run: { steps, max } }, { run: steps, run_max: max }]);
  }

  /** Half of them with a bound, in either spelling. */
  private goto(ancestors: readonly string[]): Step {
    const { random } = this;
    const step = random.pick(ancestors);
    const max = random.between(0, 2);
    return random.pick<Step>([
      { goto: step },
      { goto: { step, ...this.files() } },
      { goto: { step, max, ...this.files() } },
      { goto: step, goto_max: max },
    ]);
  }

  private onSuccess(ancestors: readonly string[]): Step {
    const { random } = this;
    return {
      ...(random.chance(0.6) ? { run: random.chance(0.5) ? ["tell"] : ["tell", "fix1"] } : {}),
      ...(random.chance(0.3) ? { run_js: random.pick(["return ['tell']", "return []", "throw 1"]) } : {}),
      ...(ancestors.length > 0 && random.chance(0.4)
        ? { goto_js: `return visit < ${random.between(2, 3)} ? '${random.pick(ancestors)}' : null` }
        : {}),
      ...(ancestors.length > 0 && random.chance(0.2)
        ? { goto: { step: random.pick(ancestors), max: random.between(1, 2) } }
        : {}),
    };
  }

  private routedStep(): Step {
    const { random } = this;
    return {
      ...this.action(),
      ...this.uses(),
      start: "routed",
      ...(random.chance(0.4)
        ? { on_fail: { retry: { max: 1, backoff: { mode: "fixed", delay_ms: 20 } } } }
        : {}),
      ...(random.chance(0.1) ? { if: random.pick(["visit < 2", "false"]) } : {}),
      ...(random.chance(0.1) ? { continue_on_failure: true } : {}),
    };
  }
}
