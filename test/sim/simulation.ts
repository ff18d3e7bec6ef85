import { isDeepStrictEqual } from "node:util";
import type { BookRow } from "../../src/core/book/book.js";
import { checkpointRow, jobRow } from "../../src/core/evolve/projections.js";
import type { Command, OperatorCommand } from "../../src/core/model/commands.js";
import type { Definition } from "../../src/core/model/definition.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import type { Run } from "../../src/core/model/run.js";
import { Engine } from "../../src/run/engine/engine.js";
import { LeaseKeeper } from "../../src/run/engine/lease-keeper.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { RunHost } from "../../src/run/engine/run-host.js";
import type { WorkspaceKeeper } from "../../src/run/engine/workspace/workspace-keeper.js";
import type { Sandbox } from "../../src/run/sandbox/sandbox.js";
import type { Assignment } from "../../src/run/worker.js";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";
import { enginePorts, flush, workflow } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { rowsOfLog } from "../support/rows-of-log.js";
import { BreakerHands } from "./breaker-hands.js";
import { Onlooker } from "./onlooker.js";
import { Operators } from "./operators.js";
import { Random } from "./random.js";
import { WorkflowMaker } from "./random-workflow.js";
import { SimulatedTrees } from "./simulated-trees.js";
import { SimulatedWorkers } from "./simulated-workers.js";

/** Turns of the clock after which a run that is not over has hung. */
const MAX_TURNS = 5_000;
const MAX_BOOK_ROWS = 100_000;
/** Of the engines that take a run, how many find its workspace elsewhere. */
const MOVES = 0.3;

export interface SimResult {
  readonly seed: number;
  readonly text: string;
  readonly definition: Definition;
  readonly log: readonly LoggedEvent[];
  readonly run: Run;
  /** Attempts that began among the remains of others. */
  readonly mixed: readonly string[];
  /** Attempts with effects that began before their start was committed. */
  readonly unrecorded: readonly string[];
  /** What the failure book was told, and what the log tells it when it is read again. */
  readonly bookRows: readonly BookRow[];
  readonly rowsOfLog: readonly BookRow[];
  readonly crashes: number;
}

/** How rough the world is. */
interface Weather {
  readonly failure: number;
  readonly lost: number;
  readonly crash: number;
  /** Engines that are told to stop. */
  readonly stop: number;
  readonly commitFault: number;
  readonly duplicate: number;
  readonly cancel: number;
  readonly operators: number;
  /** Fresh workspaces that cannot be built. */
  readonly broken: number;
  /** How many attempts run on workers that outlive the engine. */
  readonly remote: number;
}

/** One engine after another on one store, until the run is over. */
export class Simulation {
  private readonly random: Random;
  private readonly clock = new ManualClock();
  private readonly weather: Weather;
  private readonly trees: SimulatedTrees;
  private readonly workers: SimulatedWorkers;
  private readonly operators: Operators;
  private readonly hands: BreakerHands;
  private engine: Engine;
  private onlooker!: Onlooker;
  /** Other workflows have no questions to look for after every turn. */
  private asksPeople = false;
  private dead = { value: false };
  private incarnation = 0;
  private crashes = 0;
  private over = false;
  private lost = false;
  /** Held or paused: nobody runs it until a person has decided something. */
  private resting = false;

  constructor(
    private readonly seed: number,
    private readonly store: MemoryStore = createMemoryStore(),
  ) {
    this.random = new Random(seed);
    const { random } = this;
    const rough = random.chance(0.7);
    this.weather = {
      failure: random.pick([0.1, 0.3, 0.6]),
      lost: rough ? 0.05 : 0,
      crash: rough ? 0.04 : 0,
      stop: rough ? 0.03 : 0,
      commitFault: rough ? 0.02 : 0,
      duplicate: 0.1,
      cancel: random.chance(0.1) ? 0.02 : 0,
      operators: random.chance(0.5) ? 0.06 : 0,
      broken: random.pick([0, 0.1, 0.5]),
      remote: random.pick([0, 0.5, 1]),
    };
    this.trees = new SimulatedTrees(random);
    const post = (runId: number, command: Command): void => this.engine.post(runId, command);
    const isOnRecord = async ({ runId, jobId, attempt, recovery }: Assignment): Promise<boolean> => {
      const type = recovery ? "recovery.started" : "attempt.started";
      const starts = await this.store.readEvents(runId, { job: jobId, types: [type] });
      return starts.some(({ event }) => event.type === type && event.attempt === attempt);
    };
    const weather = { ...this.weather, post, isOnRecord };
    this.workers = new SimulatedWorkers(random, this.clock, weather, this.trees);
    this.operators = new Operators(random, 15);
    this.hands = new BreakerHands(random, store, random.pick([0, 0, 0.02]));
    this.engine = this.boot();
  }

  async run(): Promise<SimResult> {
    const text = new WorkflowMaker(this.random).make();
    const request = workflow(text);
    const started = await this.engine.start(request).catch(() => null);
    if (started === null) return this.run();
    const { runId } = started;
    this.onlooker = new Onlooker(this.store, runId);
    this.asksPeople = request.definition.steps.some(({ action }) => action.type === "human");
    this.follow(started.ended);
    for (let turn = 0; ; turn += 1) {
      await flush();
      if (this.over && !(await this.reopen(runId))) break;
      if (this.resting) await this.endRest(runId);
      if (turn > MAX_TURNS) throw new Error(await this.describe(runId, text, "the run hangs"));
      if (this.lost || this.random.chance(this.weather.crash)) await this.crash(runId);
      else if (!this.over && !this.resting && this.random.chance(this.weather.stop)) await this.stop(runId);
      if (this.random.chance(this.weather.cancel))
        this.engine.post(runId, {
          type: "run.cancel",
          reason: "weather",
          key: null,
          now: this.random.chance(0.3),
        });
      if (this.isOperated(runId)) await this.operate(runId);
      await this.hands.act(request.definition, this.clock.now());
      await flush();
      await this.answerQuestions(runId);
      if (!this.over && !this.lost && !this.resting && !this.clock.fireNext())
        throw new Error(await this.describe(runId, text, "nothing is due and the run is not over"));
    }
    const { run } = await loadRun(this.store, runId);
    await this.compareTables(run);
    const { definition } = request;
    const log = await this.store.readEvents(runId);
    const mixed = this.trees.findMixing(log, definition.workspace?.onLost === "keep");
    const { unrecorded } = this.workers;
    const bookRows = await this.store.listUnrolled(null, MAX_BOOK_ROWS);
    const told = await rowsOfLog(this.store, run.id);
    const found = { mixed, unrecorded, bookRows, rowsOfLog: told };
    return { seed: this.seed, text, definition, log, run, ...found, crashes: this.crashes };
  }

  private boot(): Engine {
    this.incarnation += 1;
    this.dead = { value: false };
    const ports = enginePorts(this.store, this.clock, `engine-${this.incarnation}`);
    return new Engine({
      ...ports,
      store: this.mortal(this.store, this.dead),
      isDead: () => true,
      newToken: () => `token-${this.incarnation}-${this.random.next()}`,
      worker: this.workers.boot(this.dead),
      sandbox: this.sandbox(this.dead),
      workspaces: this.keeper(this.dead),
      // Every other story is resumed from snapshots.
      ...(this.seed % 2 === 0 ? { snapshotEvents: 1 } : {}),
    });
  }

  private follow(ended: Promise<Run>): void {
    this.lost = false;
    this.resting = false;
    ended.then(
      (run) => {
        if (run.finishedAt === null) this.resting = true;
        else this.over = true;
      },
      () => {
        this.lost = true;
      },
    );
  }

  private isOperated(runId: number): boolean {
    return (
      this.engine.ownedRuns().includes(runId) &&
      !this.operators.areTired &&
      this.random.chance(this.weather.operators)
    );
  }

  /** A live run takes the command at once; one that is over or rests, in the name of whoever asks. */
  private async operate(runId: number): Promise<void> {
    const { run } = await loadRun(this.store, runId);
    const command = this.operators.ask(run);
    if (this.engine.ownedRuns().includes(runId)) this.engine.post(runId, command);
    else await this.decideHere(runId, command);
  }

  private async decideHere(runId: number, command: OperatorCommand): Promise<void> {
    const leases = new LeaseKeeper(
      this.store,
      this.clock,
      enginePorts(this.store, this.clock, "operator").owner,
      () => true,
    );
    const fence = await leases.acquire(runId, () => {});
    const { run, nextSeq } = await loadRun(this.store, runId);
    const host = new RunHost(run, fence, nextSeq);
    host.take(command, this.clock.now());
    if (host.hasPending) await this.store.commit([host.drain().append]);
    await leases.release(runId);
    leases.stop();
  }

  /** Sometimes a person goes on with a run that is over. */
  private async reopen(runId: number): Promise<boolean> {
    // Whoever gave a command to the live run may have come when it was just over, and have reopened it.
    if ((await this.onlooker.look()).finishedAt !== null) {
      if (this.operators.areTired || !this.random.chance(this.weather.operators * 5)) return false;
      await this.operate(runId);
    }
    if ((await this.onlooker.look()).finishedAt !== null) return false;
    this.over = false;
    await this.takeOver(runId);
    return true;
  }

  /** A held run is decided, a paused one gone on with. */
  private async endRest(runId: number): Promise<void> {
    const run = await this.onlooker.look();
    const due = [...run.held].flatMap(({ dueAt }) => dueAt ?? []);
    // Nobody comes, and whoever goes on later finds what is due by then.
    if (run.status === "held" && due.length > 0 && this.random.chance(0.6))
      this.clock.advance(Math.max(0, this.random.pick(due) - this.clock.now()));
    else if (run.status === "held") await this.decideHere(runId, this.operators.resolve(run));
    else if (this.random.chance(0.3) && !this.operators.areTired) await this.operate(runId);
    await this.takeOver(runId);
  }

  private async answerQuestions(runId: number): Promise<void> {
    if (this.over || this.resting || this.lost || !this.random.chance(0.5)) return;
    if (!this.asksPeople) return;
    for (const job of (await this.onlooker.look()).jobs)
      if (job.question !== null) this.engine.post(runId, this.operators.answer(job));
  }

  /** kill -9, and another engine takes over. */
  private async crash(runId: number): Promise<void> {
    this.crashes += 1;
    this.dead.value = true;
    await this.takeOver(runId);
  }

  /** Ctrl-C, and another engine goes on. */
  private async stop(runId: number): Promise<void> {
    let isStopped = false;
    const { engine } = this;
    void engine.stop().then(() => {
      isStopped = true;
    });
    for (let turn = 0; ; turn += 1) {
      await flush();
      await flush();
      if (isStopped) break;
      if (turn > 200 || !this.clock.fireNext()) throw new Error(`the engine does not stop`);
    }
    if (this.over) return;
    await this.takeOver(runId);
  }

  private async takeOver(runId: number): Promise<void> {
    this.dead.value = true;
    await this.onlooker.compareWithLoaded();
    for (let tries = 0; ; tries += 1) {
      this.engine = this.boot();
      try {
        this.follow((await this.engine.resume(runId)).ended);
        return;
      } catch (error) {
        if (tries > 20) throw error;
        this.dead.value = true;
      }
    }
  }

  /** A store handle that falls silent with its engine, and whose commits sometimes fail or lose their answer. */
  private mortal(store: Store, dead: { value: boolean }): Store {
    const { random, weather } = this;
    return new Proxy(store, {
      get:
        (target, name: keyof Store) =>
        (...args: never[]) => {
          if (name === "onChange") return (target.onChange as (...all: never[]) => unknown)(...args);
          if (dead.value) return new Promise(() => {});
          if (name === "commit" && random.chance(weather.commitFault)) {
            this.store.failNextCommit(new Error("the disk is gone"), { applied: random.chance(0.5) });
          }
          const answer = (target[name] as (...all: never[]) => Promise<unknown>)(...args);
          return answer.then((value) => (dead.value ? new Promise(() => {}) : value));
        },
    });
  }

  private keeper(dead: { value: boolean }): WorkspaceKeeper {
    const { random, clock } = this;
    return {
      rebuild: (wanted, signal) =>
        new Promise((resolve) => {
          const fails = random.chance(this.weather.broken);
          clock.setTimer(clock.now() + random.between(0, 30), () => {
            if (dead.value) return;
            resolve(
              fails || signal.aborted ? { ok: false, message: "does not apply" } : this.trees.rebuild(wanted),
            );
          });
        }),
      setAside: (unwanted) =>
        new Promise((resolve) => {
          const fails = random.chance(this.weather.broken / 4);
          this.trees.setAside(unwanted, true);
          clock.setTimer(clock.now() + random.between(0, 30), () => {
            if (dead.value) return;
            resolve(fails ? { ok: false, message: "busy" } : this.trees.setAside(unwanted, false));
          });
        }),
      open: async () => ({ commit: "pinned", path: "/workspace" }),
      // Some of the engines have an output folder of their own.
      takeUp: async (run) => (random.chance(MOVES) ? this.trees.move(run) : null),
      promote: async () => {},
      discard: async () => {},
    };
  }

  private sandbox(dead: { value: boolean }): Sandbox {
    const { random, clock } = this;
    return {
      evaluate: (evaluation) =>
        new Promise((resolve) => {
          clock.setTimer(clock.now() + random.between(0, 10), () => {
            if (!dead.value) void plainSandbox.evaluate(evaluation).then(resolve);
          });
        }),
      render: (rendering) =>
        new Promise((resolve) => {
          clock.setTimer(clock.now() + random.between(0, 10), () => {
            if (!dead.value) void plainSandbox.render(rendering).then(resolve);
          });
        }),
      close: async () => {},
    };
  }

  /** The tables must say what the log says. */
  private async compareTables(run: Run): Promise<void> {
    const rows = await this.store.readJobs(run.id);
    const expected = run.jobs.map((job) => JSON.parse(JSON.stringify(jobRow(run, job))));
    const actual = [...rows].sort((a, b) => a.id - b.id).map((row) => JSON.parse(JSON.stringify(row)));
    for (const [index, row] of expected.entries()) {
      if (!isDeepStrictEqual(row, actual[index])) {
        throw new Error(
          `seed ${this.seed}: the job table and the log differ:\n${JSON.stringify(actual[index])}\n${JSON.stringify(row)}`,
        );
      }
    }
    const checkpoints = await this.store.readCheckpoints(run.id);
    const told = run.workspace.checkpoints.map((each) => checkpointRow(run, each));
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(checkpoints)), JSON.parse(JSON.stringify(told))))
      throw new Error(
        `seed ${this.seed}: the checkpoint table and the log differ:\n${JSON.stringify(checkpoints)}\n${JSON.stringify(told)}`,
      );
    const stored = await this.store.readRun(run.id);
    if (stored?.status !== run.status)
      throw new Error(`seed ${this.seed}: the run table says ${stored?.status}, the log ${run.status}`);
  }

  private async describe(runId: number, text: string, what: string): Promise<string> {
    const log = await this.store.readEvents(runId);
    const tail = log.slice(-30).map(({ seq, event }) => `${seq} ${JSON.stringify(event)}`);
    return `seed ${this.seed}: ${what}\n${text}\n${tail.join("\n")}`;
  }
}
