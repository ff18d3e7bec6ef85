import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { FIRST_QUARANTINE_MS, free, type WorkerHealth } from "../../src/core/quarantine/quarantine.js";
import { openHealthRows, readHealth, WORKERS } from "../../src/run/engine/health/health-rows.js";
import { type Behaviour, type BenchWorker, HealthBench, type HealthServer } from "../support/health-bench.js";
import {
  everyQuarantineHasItsContrast,
  noWorkerInQuarantineGetsWork,
  oneAttemptForEachProbation,
} from "../support/invariants-health.js";
import { Random } from "./random.js";

/** A story has several servers, workers and runs, so fewer are told. */
const STORIES = Math.max(10, Math.floor(Number(process.env.SIM_SEEDS ?? 20) / 25));
const TURNS = 60;
const MAX_TURNS = 2_000;

/** Servers that are killed, workers that break, mend, leave and come again, and people who release them. */
class HealthWorld {
  readonly found: string[] = [];
  quarantines = 0;
  readonly random: Random;
  private readonly bench = new HealthBench();
  private readonly workers: BenchWorker[] = [];
  private readonly runs = new Set<number>();
  private readonly at = new Map<BenchWorker, HealthServer>();
  private servers: HealthServer[] = [];
  private healths: ReadonlyMap<string, WorkerHealth> = new Map();

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  async tell(): Promise<void> {
    try {
      this.open();
      for (let turn = 0; turn < TURNS; turn += 1) await this.turn(turn);
      for (const [at, worker] of this.workers.entries()) {
        worker.behaviour = () => ({ ok: true, ms: 1 });
        worker.leave();
        this.connect(worker, this.servers[at % this.servers.length]!);
      }
      for (let turn = 0; (await this.unfinished()).length > 0; turn += 1) {
        if (turn > MAX_TURNS) throw new Error(`runs ${await this.unfinished()} hang`);
        await this.takeUpRuns();
        await this.pass(this.random.pick([100, 1_000, 60_000]));
      }
      await this.check();
    } finally {
      this.bench.close();
    }
  }

  private open(): void {
    const { random, bench } = this;
    this.servers = Array.from({ length: random.between(1, 2) }, () => bench.serve());
    const count = random.between(2, 5);
    for (let n = 0; n < count; n += 1) {
      const place = random.chance(0.3)
        ? { node: `n${random.between(1, 2)}`, allocation: `hpc/${n}`, restart: 0 }
        : {};
      const slots = random.between(1, 4);
      const server = random.pick(this.servers);
      const worker = bench.worker(`w${n}`, server, this.behaviour(), { slots, ...place });
      this.workers.push(worker);
      this.at.set(worker, server);
    }
  }

  private behaviour(): Behaviour {
    const { random } = this;
    const failure = random.pick([0, 0, 0, 0.1, 1]);
    return () => ({ ok: !random.chance(failure), ms: random.pick([1, 20, 2_000]) });
  }

  private async turn(turn: number): Promise<void> {
    const { random } = this;
    if (random.chance(0.7)) await this.begin(turn);
    if (random.chance(0.03)) random.pick(this.workers).behaviour = this.behaviour();
    if (random.chance(0.03)) await this.crash();
    if (random.chance(0.03)) this.move();
    if (random.chance(0.02)) await this.release();
    if (random.chance(0.01)) this.bench.clock.set(random.pick([-1, 1]) * random.between(1, 10 ** 9));
    await this.pass(random.chance(0.1) ? FIRST_QUARANTINE_MS / 2 : random.pick([1, 50, 500, 5_000]));
  }

  /** So much time passes, and nobody has got work in it who should not. */
  private async pass(ms: number): Promise<void> {
    const { bench } = this;
    await bench.settle();
    this.healths = await this.read();
    bench.given = [];
    await bench.pass(ms, Math.max(1, ms / 3));
    const after = await this.read();
    this.found.push(...noWorkerInQuarantineGetsWork(bench.given, this.healths, after));
  }

  private async read(): Promise<ReadonlyMap<string, WorkerHealth>> {
    const { rows } = await this.bench.store.readShared(WORKERS, null, this.bench.clock.now());
    return new Map(rows.map((row) => [row.name, readHealth(row)]));
  }

  private async begin(turn: number): Promise<void> {
    const { random } = this;
    const steps = Array.from({ length: random.between(1, 6) }, (_, at) => {
      const after = at > 0 && random.chance(0.5) ? `, depends_on: s${at - 1}` : "";
      const on = random.pick(["other", "other", "other", "any", "same"]);
      return `  s${at}: { exec: make, on_fail: { retry: { max: ${random.between(1, 4)}, on_worker: ${on} } }${after} }`;
    });
    const text = `name: n${turn}\nsteps:\n${steps.join("\n")}`;
    this.runs.add(await this.bench.start(random.pick(this.servers), text));
  }

  /** kill -9, and another takes its place: workers come to it with what they have, and it goes on with the runs. */
  private async crash(): Promise<void> {
    const { random, bench } = this;
    const dead = random.pick(this.servers);
    dead.dead = true;
    const next = bench.serve();
    this.servers = this.servers.map((each) => (each === dead ? next : each));
    for (const [worker, server] of this.at)
      if (server === dead) this.connect(worker, random.pick(this.servers));
    await this.takeUpRuns();
    await bench.settle();
  }

  private async takeUpRuns(): Promise<void> {
    const owned = new Set(this.servers.flatMap(({ engine }) => engine.ownedRuns()));
    for (const runId of await this.unfinished())
      if (!owned.has(runId))
        await this.random
          .pick(this.servers)
          .engine.retake(runId)
          .catch(() => {});
  }

  private move(): void {
    const worker = this.random.pick(this.workers);
    worker.leave();
    this.connect(worker, this.random.pick(this.servers));
  }

  private connect(worker: BenchWorker, server: HealthServer): void {
    worker.connect(server);
    this.at.set(worker, server);
  }

  private async release(): Promise<void> {
    const { clock, store } = this.bench;
    const names = [...(await this.read()).keys()];
    if (names.length === 0) return;
    const name = this.random.pick(names);
    await openHealthRows(store, clock).change([name], (found, at) => {
      const after = free(found.get(name)!, { at, by: "ada", reason: "mended" });
      return after === found.get(name) ? null : new Map([[name, after]]);
    });
    await this.bench.settle();
  }

  private async unfinished(): Promise<number[]> {
    const rows = await Promise.all([...this.runs].map((id) => this.bench.store.readRun(id)));
    return rows.flatMap((row) => (row !== null && row.finished_at === null ? [row.id] : []));
  }

  private async check(): Promise<void> {
    const logs = new Map<number, readonly LoggedEvent[]>();
    for (const id of this.runs) logs.set(id, await this.bench.store.readEvents(id));
    const logOf = (run: number): readonly LoggedEvent[] => logs.get(run) ?? [];
    const grants = new Map<string, Set<number>>();
    for (const { name, health } of this.bench.written) {
      const { quarantine } = health;
      if (quarantine === null) continue;
      this.quarantines += 1;
      this.found.push(...everyQuarantineHasItsContrast(name, quarantine, logOf));
      const granted = grants.get(name) ?? new Set<number>();
      grants.set(name, quarantine.probationAt === null ? granted : granted.add(quarantine.probationAt));
    }
    for (const [name, granted] of grants)
      this.found.push(...oneAttemptForEachProbation(name, granted.size, logs.values()));
  }
}

describe("worker health", () => {
  const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
  it(`holds in ${only === null ? STORIES : 1} stories: noWorkerInQuarantineGetsWork, everyQuarantineHasItsContrast, oneAttemptForEachProbation`, {
    timeout: 600_000,
    tags: ["H1"],
  }, async () => {
    let quarantines = 0;
    for (let seed = only ?? 1; seed <= (only ?? STORIES); seed += 1) {
      const world = new HealthWorld(seed);
      await world.tell().catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${error}`);
      });
      expect(world.found, `seed ${seed}`).toEqual([]);
      quarantines += world.quarantines;
    }
    if (only === null) expect(quarantines).toBeGreaterThan(STORIES);
  });
});
