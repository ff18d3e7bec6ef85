import type { Campaign } from "../../src/core/campaign/campaign.js";
import type { CommandOutcome } from "../../src/core/decide/take-command.js";
import { takeCommand } from "../../src/core/decide/take-command.js";
import { DarumaError } from "../../src/core/errors/errors.js";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { Definition } from "../../src/core/model/definition.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import type { JobRow, RunRow } from "../../src/core/model/rows.js";
import { findItems } from "../../src/operations/campaigns/find-items.js";
import { workOnCampaigns } from "../../src/operations/campaigns/run-campaigns.js";
import { Engine } from "../../src/run/engine/engine.js";
import { LeaseKeeper } from "../../src/run/engine/lease-keeper.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { RunHost } from "../../src/run/engine/run-host.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";
import { enginePorts, flush, workflow } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { type Outcome, ScriptedWorker } from "../support/scripted-worker.js";
import { BreakerHands } from "./breaker-hands.js";
import { Random } from "./random.js";

/** Turns after which something hangs. */
const MAX_TURNS = 20_000;
const ENGINES = 2;

interface Place {
  engine: Engine;
  dead: { value: boolean };
}

export interface ManyRunsResult {
  readonly runs: readonly { readonly row: RunRow; readonly log: readonly LoggedEvent[] }[];
  /** Of all runs, by id. */
  readonly jobs: ReadonlyMap<number, JobRow>;
  readonly campaign: Campaign | null;
  readonly definition: Definition;
}

/**
 * Runs of one workflow on two engines that share a store, a service that comes and goes, and then a campaign over what
 * has failed. Engines, and whoever does the campaign's work, are killed at any point.
 */
export class ManyRuns {
  private readonly random: Random;
  private readonly clock = new ManualClock();
  private readonly store = createMemoryStore();
  private readonly places: Place[] = [];
  private readonly owned = new Map<number, Place>();
  private readonly hands: BreakerHands;
  private readonly crashing: number;
  /** Turns after which the service stays as it is. */
  private readonly weatherTurns: number;
  private incarnation = 0;
  private isUp: boolean;

  constructor(seed: number) {
    this.random = new Random(seed);
    const { random } = this;
    this.isUp = random.chance(0.3);
    this.crashing = random.pick([0, 0.02, 0.06]);
    this.weatherTurns = random.between(5, 120);
    this.hands = new BreakerHands(random, this.store, random.pick([0, 0, 0.02]));
    for (let n = 0; n < ENGINES; n += 1) this.places.push(this.boot());
  }

  async play(): Promise<ManyRunsResult> {
    const { random, store } = this;
    const request = { ...workflow(this.text()), managed: true };
    const count = random.between(2, 6);
    for (let n = 0; n < count; n += 1) {
      const place = random.pick(this.places);
      const { runId } = await place.engine.start(request);
      this.owned.set(runId, place);
    }
    const ids = [...this.owned.keys()];
    await this.untilRest(ids, request.definition, null);
    this.isUp = random.chance(0.8);
    const id = await this.startCampaign();
    if (id !== null) await this.untilRest(ids, request.definition, id);
    const runs = await Promise.all(
      ids.map(async (run) => ({ row: (await store.readRun(run))!, log: await store.readEvents(run) })),
    );
    const jobs = new Map<number, JobRow>();
    for (const run of ids) for (const job of await store.readJobs(run)) jobs.set(job.id, job);
    const campaign = id === null ? null : await store.readCampaign(id);
    return { runs, jobs, campaign, definition: request.definition };
  }

  private text(): string {
    const { random } = this;
    const breaker = (): string =>
      `{ failures: ${random.between(1, 4)}, probe_every: ${random.between(10, 60)}s, max_open: ${random.pick(["1m", "5m"])}, release: ${random.pick(["1/s", "10/s"])} }`;
    const retry = `retry: { max: ${random.between(0, 3)}, backoff: { delay_ms: ${random.pick([1, 1_000])} } }`;
    return `
name: many
unhandled: ${random.pick(["fail", "hold"])}
${random.chance(0.3) ? "queue: { max_attempts: 2, classes: [application, transient_runtime] }" : ""}
breakers: { api: ${breaker()}, db: ${breaker()} }
steps:
  first: { exec: x, uses: [api], on_fail: { ${retry} } }
  second: { exec: x, uses: [${random.pick(["db", "api", "api, db"])}], on_fail: { ${retry} }, depends_on: [${random.pick(["", "first"])}] }
  last: { exec: x, depends_on: [first, second] }
`;
  }

  private boot(): Place {
    this.incarnation += 1;
    const dead = { value: false };
    const works = (): Outcome => this.attempt();
    const worker = new ScriptedWorker(this.clock, { first: works, second: works }, this.random.between(1, 3));
    const ports = enginePorts(this.store, this.clock, `engine-${this.incarnation}`);
    const engine = new Engine({
      ...ports,
      store: this.mortal(dead),
      newToken: () => `token-${this.random.next()}`,
      isDead: () => true,
      worker,
      sandbox: plainSandbox,
    });
    return { engine, dead };
  }

  private attempt(): Outcome {
    const takesMs = this.random.pick([0, 100, 20_000]);
    if (this.isUp) return this.random.chance(0.05) ? { exit: 3, takesMs } : { output: null, takesMs };
    return { facts: { httpStatus: 503, message: "HTTP status 503" }, takesMs };
  }

  /** A handle on the store that falls silent with its process. */
  private mortal(dead: { readonly value: boolean }): Store {
    return new Proxy(this.store as Store, {
      get:
        (target, name: keyof Store) =>
        (...args: never[]) => {
          if (name === "onChange") return (target.onChange as (...all: never[]) => unknown)(...args);
          if (dead.value) return new Promise(() => {});
          const answer = (target[name] as (...all: never[]) => Promise<unknown>)(...args);
          return answer.then((value) => (dead.value ? new Promise(() => {}) : value));
        },
    });
  }

  /** Until every run is over or held, and the campaign, where there is one, has ended. */
  private async untilRest(
    ids: readonly number[],
    definition: Definition,
    campaign: number | null,
  ): Promise<void> {
    for (let turn = 0; ; turn += 1) {
      if (turn > MAX_TURNS) throw new Error("it hangs");
      await flush();
      if (turn < this.weatherTurns && campaign === null && this.random.chance(0.1)) this.isUp = !this.isUp;
      if (turn < this.weatherTurns) await this.hands.act(definition, this.clock.now());
      else await this.hands.closeAll(definition, this.clock.now());
      if (this.random.chance(this.crashing)) this.kill(this.random.pick(this.places));
      await this.takeUp(ids);
      if (campaign !== null) await this.workOnce();
      await flush();
      const rows = await Promise.all(ids.map((id) => this.store.readRun(id)));
      const atRest = rows.every((row) => row!.finished_at !== null || row!.status === "held");
      const isDone = campaign === null || isOver((await this.store.readCampaign(campaign))!);
      if (atRest && isDone) return;
      if (!this.clock.fireNext()) this.clock.advance(1_000);
    }
  }

  /** kill -9: what it was about to say is never heard. */
  private kill(place: Place): void {
    place.dead.value = true;
    this.places[this.places.indexOf(place)] = this.boot();
    for (const [run, owner] of this.owned) if (owner === place) this.owned.delete(run);
  }

  /** Runs that want somebody and have nobody. */
  private async takeUp(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const row = (await this.store.readRun(id))!;
      if (row.finished_at !== null || row.status === "held") this.owned.delete(id);
      else if (!(this.owned.get(id)?.engine.ownedRuns().includes(id) ?? false)) {
        const place = this.random.pick(this.places);
        await place.engine.resume(id);
        this.owned.set(id, place);
      }
    }
  }

  private async startCampaign(): Promise<number | null> {
    const { items, leftOut } = await findItems(this.store, { workflow: "many" }, "retry");
    if (items.length === 0) return null;
    const { random } = this;
    const made = await this.store.createCampaign({
      ...{ state: "running", why: null, created_at: this.clock.now(), wave: 0, left_out: leftOut, items },
      plan: {
        ...{ action: "retry", canary: random.between(1, 2), factor: 2, reason: "sim", by: "sim" },
        ...{ per_minute: random.pick([null, 3]), stop_at: random.pick([0.2, 1]), wait_ms: 24 * 60 * 60_000 },
      },
    });
    return (made as { id: number }).id;
  }

  /** One look of whoever has the duty; it may be killed between any two of its steps. */
  private async workOnce(): Promise<void> {
    const { random } = this;
    const orDie = <T>(value: T): T => {
      if (random.chance(this.crashing / 4)) throw new Error("killed");
      return value;
    };
    const store = new Proxy(this.store as Store, {
      get:
        (target, name: keyof Store) =>
        async (...args: never[]) => {
          orDie(null);
          return orDie(await (target[name] as (...all: never[]) => Promise<unknown>)(...args));
        },
    });
    const operate = async (run: number, command: OperatorCommand): Promise<CommandOutcome> => {
      orDie(null);
      await this.give(run, command);
      return orDie(undefined as never);
    };
    await workOnCampaigns({ store, operate, now: () => this.clock.now() }).catch((error: unknown) => {
      if ((error as Error).message !== "killed") throw error;
    });
  }

  /** As a server does: its owner takes it, or whoever asks where nobody has the run. */
  private async give(runId: number, command: OperatorCommand): Promise<void> {
    const engine = this.owned.get(runId)?.engine;
    if (engine?.ownedRuns().includes(runId)) {
      const taken = await engine.operate(runId, command);
      if (taken !== "not_owned") return refuse(taken.refusal);
    }
    const { owner } = enginePorts(this.store, this.clock, `duty-${this.random.next()}`);
    const leases = new LeaseKeeper(this.store, this.clock, owner, () => true);
    const fence = await leases.acquire(runId, () => {});
    try {
      const { run, nextSeq } = await loadRun(this.store, runId);
      const host = new RunHost(run, fence, nextSeq);
      const { refusal } = takeCommand(run, command, () => host.take(command, this.clock.now()));
      if (host.hasPending) await this.store.commit([host.drain().append]);
      refuse(refusal);
    } finally {
      await leases.release(runId);
      leases.stop();
    }
  }
}

function refuse(refusal: { readonly code: string; readonly message: string } | null): void {
  if (refusal !== null) throw new DarumaError(refusal.code as never, refusal.message);
}

function isOver({ state }: Campaign): boolean {
  return state === "done" || state === "stopped";
}
