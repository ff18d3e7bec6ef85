import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoggedEvent } from "../../src/core/model/events.js";
import type { Run } from "../../src/core/model/run.js";
import type { WorkerHealth } from "../../src/core/quarantine/quarantine.js";
import { WorkerPool } from "../../src/fleet/desk/pool.js";
import type { Held, Registration, SentOutcome } from "../../src/fleet/desk/protocol.js";
import { Engine } from "../../src/run/engine/engine.js";
import { HealthBoard } from "../../src/run/engine/health/health-board.js";
import { readHealth, WORKERS } from "../../src/run/engine/health/health-rows.js";
import type { Assignment, Needs, PlaceWish, Seat } from "../../src/run/worker.js";
import { createMemoryStore, type MemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, flush, workflow } from "./harness.js";
import { ManualClock } from "./manual-clock.js";
import { plainSandbox } from "./plain-sandbox.js";
import { localPart } from "./pool-bench.js";

/** Long, so that time may pass in large steps. */
const LEASE_MS = 60 * 60_000;
const BEAT_MS = 20_000;

/** What an attempt comes to; null: it is never heard of again. */
export type Behaviour = (assignment: Assignment) => { readonly ok: boolean; readonly ms: number } | null;

export const works: Behaviour = () => ({ ok: true, ms: 10 });
export const failsAtOnce: Behaviour = () => ({ ok: false, ms: 1 });

/** A worker of another machine, as one process: attempts outlive the servers that gave them to it. */
export class BenchWorker {
  private server: HealthServer | null = null;
  private session = "";
  private readonly has = new Map<string, Assignment>();
  private readonly results = new Map<string, SentOutcome>();
  private readonly id: string;

  constructor(
    readonly name: string,
    private readonly clock: ManualClock,
    public behaviour: Behaviour,
    private readonly offer: Partial<Registration> = {},
    process = 1,
  ) {
    const hex = Buffer.from(name).toString("hex");
    this.id = `${process}${hex}`.padEnd(8, "0").slice(0, 24);
  }

  connect(server: HealthServer): void {
    this.server = server;
    const registered = server.pool.desk.register({
      ...{ instance: this.id, name: this.name, slots: 1, cpus: 1, memory_bytes: 1_000 },
      ...{ tags: [], actions: ["command"], attempts: this.held() },
      ...this.offer,
    });
    this.session = registered.session;
    for (const token of registered.lost) this.forget(token);
    for (const report of this.results.values()) this.deliver(report);
    this.claim();
    this.beat(server, this.session);
  }

  private held(): Held[] {
    return [...this.has.values()].map(({ jobId: job, attempt, token, recovery }) => ({
      ...{ job, attempt, token, recovery },
    }));
  }

  private beat(server: HealthServer, session: string): void {
    this.clock.after(BEAT_MS, () => {
      if (server !== this.server || session !== this.session || server.dead) return;
      const isKnown = server.pool.list().some(({ id }) => id === this.id);
      if (!isKnown) return this.connect(server);
      server.pool.desk.heartbeat(this.id, { attempts: this.held(), draining: false });
      this.beat(server, session);
    });
  }

  leave(): void {
    const { server } = this;
    this.server = null;
    if (server?.pool.list().some(({ id }) => id === this.id)) server.pool.desk.deregister(this.id);
  }

  private claim(): void {
    const { server, session } = this;
    if (server === null || server.dead) return;
    const claimed = (async () => server.pool.desk.claim(this.id, { session, wait_ms: 60_000 }))();
    void claimed.then(
      ({ assignments }) => {
        if (server !== this.server || session !== this.session || server.dead) return;
        for (const each of assignments) this.begin(each);
        this.claim();
      },
      // It was struck off, or has come in the meantime.
      () => this.clock.after(100, () => this.connectAgain(server, session)),
    );
  }

  private connectAgain(server: HealthServer, session: string): void {
    if (server === this.server && session === this.session && !server.dead) this.connect(server);
  }

  private begin(assignment: Assignment): void {
    const { token, jobId: job, attempt, recovery } = assignment;
    this.has.set(token, assignment);
    const behaviour = this.behaviour(assignment);
    if (behaviour === null) return;
    const { ms, ok } = behaviour;
    this.clock.after(ms, () => {
      const outcome: SentOutcome["outcome"] = ok
        ? { kind: "succeeded", output: { kind: "value", value: null }, duration_ms: ms }
        : { kind: "failed", facts: { exitCode: 1, message: "exit code 1" }, duration_ms: ms };
      const report = { job, attempt, token, recovery, outcome };
      this.results.set(token, { ...report, logs: [], summary: null });
      this.deliver(this.results.get(token)!);
    });
  }

  private deliver(report: SentOutcome): void {
    const { server } = this;
    if (server === null || server.dead) return;
    void server.pool.desk.report(this.id, [report]).then(
      ([answer]) => {
        if (answer?.outcome !== "retry") this.forget(report.token);
        else this.clock.after(100, () => this.deliver(report));
      },
      () => {},
    );
  }

  private forget(token: string): void {
    this.has.delete(token);
    this.results.delete(token);
  }
}

/** A place that was given to an attempt. */
export interface GivenPlace {
  readonly place: Seat;
  readonly server: HealthServer;
}

/** One process with an engine, a pool and a board, as `ServerParts` puts them together. */
export class HealthServer {
  readonly pool: WorkerPool;
  readonly board: HealthBoard;
  readonly engine: Engine;
  readonly told: string[] = [];
  dead = false;
  private tokens = 0;

  constructor(
    readonly name: string,
    store: MemoryStore,
    clock: ManualClock,
    outputDir: string,
    slots: number,
    onPlace: (given: GivenPlace) => void,
  ) {
    const mortal = mortalStore(store, this);
    this.board = new HealthBoard({
      ...{ store: mortal, clock, wake: () => this.pool.tellRoom() },
      tell: (text) => this.told.push(text),
      notify: [{ on: ["quarantined", "recovered"], to: ["ops"], when: null }],
    });
    this.pool = new WorkerPool({
      ...{ local: localPart(slots), outputDir, clock, recorded: mortal, standings: this.board },
      leaseMs: LEASE_MS,
    });
    const place = this.pool.place.bind(this.pool);
    this.pool.place = (needs: Needs, wish?: PlaceWish) => {
      const found = place(needs, wish);
      if (found !== null && found !== "full") onPlace({ place: found, server: this });
      return found;
    };
    this.engine = new Engine({
      ...enginePorts(mortal, clock, name),
      ...{ worker: this.pool, sandbox: plainSandbox, isDead: () => true, leaseMs: LEASE_MS },
      newToken: () => `${name}-${++this.tokens}`,
    });
    this.engine.listeners.addForLoaded((run: Run) => this.board.load(run));
    this.engine.onEvents((run: Run, events: readonly LoggedEvent[]) => this.board.take(run, events));
    this.engine.onLost((run: Run) => this.board.letGo(run));
  }
}

/** A server that is dead writes nothing. */
function mortalStore(store: MemoryStore, server: { dead: boolean }): MemoryStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (server.dead && key !== "onChange") return new Promise(() => {});
        return (value as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

/** Servers, workers and runs on one memory store and one manual clock. */
export class HealthBench {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore();
  /** All that was ever written of the health of workers. */
  readonly written: { readonly name: string; readonly health: WorkerHealth }[] = [];
  /** Since somebody last looked. */
  given: GivenPlace[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), "daruma-health-"));
  private count = 0;

  constructor() {
    const write = this.store.writeShared.bind(this.store);
    this.store.writeShared = async (rows, beside) => {
      const isWritten = await write(rows, beside);
      if (isWritten)
        for (const row of rows)
          if (row.kind === WORKERS) this.written.push({ name: row.name, health: readHealth(row) });
      return isWritten;
    };
  }

  serve(slots = 0): HealthServer {
    this.count += 1;
    const note = (given: GivenPlace): void => void this.given.push(given);
    return new HealthServer(`server-${this.count}`, this.store, this.clock, this.folder, slots, note);
  }

  worker(
    name: string,
    server: HealthServer,
    behaviour: Behaviour = works,
    offer: Partial<Registration> = {},
    process = 1,
  ): BenchWorker {
    const worker = new BenchWorker(name, this.clock, behaviour, offer, process);
    worker.connect(server);
    return worker;
  }

  async start(server: HealthServer, text: string): Promise<number> {
    const { runId } = await server.engine.start(workflow(text));
    await this.settle();
    return runId;
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 8; round += 1) await flush();
  }

  /** Time passes, and all that comes due in it happens. */
  async pass(ms: number, stepMs = 100): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.advance(Math.min(stepMs, ms - passed));
      await this.settle();
    }
  }

  /** Worker, outcome and why there, of every attempt of a run in the order of their starts. */
  async attempts(runId: number): Promise<string[]> {
    const log = await this.store.readEvents(runId);
    const ended = new Map<string, string>();
    for (const { event } of log)
      if (event.type === "attempt.succeeded" || event.type === "attempt.failed")
        ended.set(`${event.job} ${event.attempt}`, event.type === "attempt.succeeded" ? "ok" : "failed");
    return log.flatMap(({ event }) => {
      if (event.type !== "attempt.started") return [];
      const { worker, job, attempt, placed } = event;
      const words = [worker.split("/")[0], ended.get(`${job} ${attempt}`) ?? "running", placed];
      return [words.filter((word) => word !== undefined).join(" ")];
    });
  }

  async health(name: string): Promise<ReturnType<typeof readHealth>> {
    const { rows } = await this.store.readShared(WORKERS, [name], this.clock.now());
    return readHealth(rows[0]);
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
