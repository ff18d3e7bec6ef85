import { createHash } from "node:crypto";
import type {
  EvaluationResult,
  Event,
  EventType,
  LoggedEvent,
  RunOptions,
} from "../../src/core/model/events.js";
import type { JobRow, RouteRow, RunRow } from "../../src/core/model/rows.js";
import type { Json } from "../../src/core/text/json.js";
import { loadDefinition } from "../../src/file/load.js";
import { Engine, type NewRun } from "../../src/run/engine/engine.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { compilePattern } from "../../src/run/sandbox/compile-pattern.js";
import type { Rendering } from "../../src/run/sandbox/render-step.js";
import type { Evaluation, Sandbox } from "../../src/run/sandbox/sandbox.js";
import { checkTemplate } from "../../src/run/sandbox/template.js";
import { checkExpression } from "../../src/run/sandbox/wrap-code.js";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import { ManualClock } from "./manual-clock.js";
import { plainSandbox } from "./plain-sandbox.js";
import { type Rebuilt, ScriptedKeeper } from "./scripted-keeper.js";
import { type Script, ScriptedWorker } from "./scripted-worker.js";

export const DEFAULT_OPTIONS: RunOptions = {
  max_loops: null,
  retry_max: null,
  failure_routing: true,
  only: null,
};

/** A workflow text as a run request, or an error that lists its problems. */
export function workflow(
  text: string,
  extra: {
    inputs?: { [name: string]: Json };
    context?: { [name: string]: Json };
    options?: Partial<RunOptions>;
  } = {},
): NewRun {
  const loaded = loadDefinition(text, { file: "test.yaml", checkExpression, checkTemplate, compilePattern });
  if (!loaded.ok)
    throw new Error(
      loaded.problems
        .map((problem) => `${problem.line}:${problem.column} ${problem.code} ${problem.message}`)
        .join("\n"),
    );
  return {
    definition: loaded.definition,
    hash: createHash("sha256").update(text).digest("hex"),
    text: JSON.stringify(loaded.definition),
    file: null,
    folder: "/tmp",
    inputs: extra.inputs ?? {},
    context: extra.context ?? {},
    options: { ...DEFAULT_OPTIONS, ...extra.options },
  };
}

export interface Trial {
  readonly run: RunRow;
  readonly jobs: readonly JobRow[];
  readonly routes: readonly RouteRow[];
  readonly log: readonly LoggedEvent[];
  /** Steps in the order in which their attempts started. */
  readonly order: readonly string[];
  /** Milliseconds since the run began, one for each entry of `order`. */
  readonly times: readonly number[];
  readonly worker: ScriptedWorker;
  job(step: string, scope?: string): JobRow;
  events<T extends EventType>(type: T): Extract<Event, { type: T }>[];
}

export interface TrialOptions {
  readonly inputs?: { [name: string]: Json };
  /** As `--context` gives it. */
  readonly context?: { [name: string]: Json };
  readonly options?: Partial<RunOptions>;
  readonly capacity?: number;
  readonly sandbox?: Sandbox;
  /** How the building of fresh workspaces goes, one by one; the last one repeats. */
  readonly rebuilds?: readonly Rebuilt[];
  /** How the setting aside of what attempts left goes, likewise. */
  readonly setAsides?: readonly Rebuilt[];
  /** Called with each turn of the clock; may post commands. */
  readonly onTurn?: (engine: Engine, runId: number, turn: number, clock: ManualClock) => void;
}

/** Turns of the clock after which a trial that is not over has hung. */
const MAX_TURNS = 20_000;

/** Run a workflow on the memory store, the manual clock and a script of outcomes, to its end. */
export async function trial(text: string, script: Script = {}, options: TrialOptions = {}): Promise<Trial> {
  const clock = new ManualClock();
  const worker = new ScriptedWorker(clock, script, options.capacity ?? 8);
  const store = createMemoryStore();
  const sandbox = new AwaitedSandbox(options.sandbox ?? plainSandbox);
  const workspaces = new ScriptedKeeper(clock, options.rebuilds, options.setAsides);
  const engine = new Engine({ ...enginePorts(store, clock), worker, sandbox, workspaces });
  const startedAt = clock.now();
  const { runId, ended } = await engine.start(workflow(text, options));
  let over = false;
  const done = ended.then(() => {
    over = true;
  });
  for (let turn = 0; ; turn += 1) {
    await flush();
    await sandbox.idle();
    if (over) break;
    options.onTurn?.(engine, runId, turn, clock);
    await flush();
    if (over) break;
    if (turn > MAX_TURNS || !clock.fireNext())
      throw new Error(`the run hangs after ${worker.order.join(" ")}`);
  }
  await done;
  return readTrial(store, runId, worker, startedAt);
}

export function enginePorts(
  store: MemoryStore,
  clock: ManualClock,
  engine = "test",
): Omit<ConstructorParameters<typeof Engine>[0], "worker" | "sandbox"> {
  let token = 0;
  return {
    store,
    clock,
    owner: { host: "test", bootId: "boot", pid: 1, processStart: "0", engine },
    readArtifact: () => null,
    newToken: () => {
      token += 1;
      return `token-${token}`;
    },
    isDead: () => false,
  };
}

/** The manual clock must not move while a real sandbox is at work in its thread. */
class AwaitedSandbox implements Sandbox {
  private readonly pending = new Set<Promise<EvaluationResult>>();

  constructor(private readonly inner: Sandbox) {}

  evaluate(evaluation: Evaluation): Promise<EvaluationResult> {
    return this.await(this.inner.evaluate(evaluation));
  }

  render(rendering: Rendering, signal?: AbortSignal): Promise<EvaluationResult> {
    return this.await(this.inner.render(rendering, signal));
  }

  private await(result: Promise<EvaluationResult>): Promise<EvaluationResult> {
    this.pending.add(result);
    void result.then(() => this.pending.delete(result));
    return result;
  }

  async idle(): Promise<void> {
    while (this.pending.size > 0) {
      await Promise.all(this.pending);
      await flush();
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

/** Let every promise that can settle do so. */
export function flush(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export async function readTrial(
  store: MemoryStore,
  runId: number,
  worker: ScriptedWorker,
  startedAt: number,
): Promise<Trial> {
  const run = (await store.readRun(runId))!;
  const jobs = await store.readJobs(runId);
  const log = await store.readEvents(runId);
  await loadRun(store, runId);
  return {
    run,
    jobs,
    log,
    worker,
    routes: await store.readRoutes(runId),
    order: worker.order,
    times: worker.startedAt.map((at) => at - startedAt),
    job(step, scope = "root") {
      const found = jobs.find((job) => job.step === step && job.scope === scope);
      if (found === undefined) throw new Error(`no job ${step} in ${scope}`);
      return found;
    },
    events: (type) => log.flatMap(({ event }) => (event.type === type ? [event as never] : [])),
  };
}
