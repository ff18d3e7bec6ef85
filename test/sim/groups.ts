import { DarumaError } from "../../src/core/errors/errors.js";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import type { RunRow } from "../../src/core/model/rows.js";
import type { GroupMember } from "../../src/store/group-slots.js";
import { GroupBench } from "../support/group-bench.js";
import type { Outcome } from "../support/scripted-worker.js";
import { Random } from "./random.js";

const MAX_TURNS = 20_000;
const GROUPS = ["one", "two"] as const;

export interface GroupsResult {
  readonly runs: readonly { readonly row: RunRow; readonly log: readonly LoggedEvent[] }[];
  /** Where more runs were under way than their limits allow, or one began that was not the first in line. */
  readonly violations: readonly string[];
}

/**
 * Many runs of two groups, of servers and of processes of their own, that come at any time. Processes are killed, stopped
 * and come back; people cancel, pause, decide and reopen. After every turn it is counted who is under way.
 */
export class GroupsGame {
  private readonly random: Random;
  private readonly bench: GroupBench;
  private readonly crashing: number;
  private readonly ids: number[] = [];
  private readonly violations: string[] = [];
  private before: readonly GroupMember[] = [];

  constructor(seed: number) {
    const random = new Random(seed);
    this.random = random;
    this.crashing = random.pick([0, 0.01, 0.05]);
    this.bench = new GroupBench({ work: () => this.attempt() }, random.between(1, 4));
  }

  async play(): Promise<GroupsResult> {
    const { random, bench } = this;
    await bench.server();
    if (random.chance(0.5)) await bench.server();
    let left = random.between(4, 14);
    for (let turn = 0; ; turn += 1) {
      if (turn > MAX_TURNS) throw new Error(`it hangs: ${(await bench.statuses(...this.ids)).join()}`);
      await bench.settle();
      await this.check();
      if (left > 0 && random.chance(0.15)) {
        left -= 1;
        await this.start();
        await this.check();
      }
      if (random.chance(this.crashing)) await this.crash();
      if (random.chance(0.02)) await this.meddle();
      await this.check();
      if (left === 0 && (await this.finish())) break;
      if (!bench.clock.fireNext()) bench.clock.advance(100);
    }
    await bench.stop();
    const { store } = bench;
    const runs = await Promise.all(
      this.ids.map(async (run) => ({ row: (await store.readRun(run))!, log: await store.readEvents(run) })),
    );
    return { runs, violations: this.violations };
  }

  private attempt(): Outcome {
    const takesMs = this.random.pick([0, 1_000, 20_000]);
    return this.random.chance(0.2) ? { exit: 3, takesMs } : { output: null, takesMs };
  }

  private async start(): Promise<void> {
    const { random, bench } = this;
    const living = bench.processes.filter(({ isDead }) => !isDead);
    const servers = living.filter(({ claimer }) => claimer !== null);
    const process = random.chance(0.5) || servers.length === 0 ? bench.process() : random.pick(servers);
    const text = `unhandled: ${random.pick(["fail", "hold"])}\nsteps: { work: { exec: make }, more: { exec: make, depends_on: work } }`;
    try {
      this.ids.push(
        await bench.start(process, {
          text,
          group: random.pick(GROUPS),
          limit: random.pick([1, 1, 2, 3]),
          policy: random.pick(["queue", "queue", "queue", "cancel_running", "reject"]),
          priority: random.pick([0, 0, 0, 5, -5]),
        }),
      );
    } catch (error) {
      if (!(error instanceof DarumaError && error.code === "GROUP_BUSY")) throw error;
    }
  }

  /** kill -9 or a stop in good order; another server comes where it was the last. */
  private async crash(): Promise<void> {
    const { random, bench } = this;
    const living = bench.processes.filter(({ isDead }) => !isDead);
    if (living.length === 0) return;
    const victim = random.pick(living);
    if (random.chance(0.3)) {
      void victim.claimer?.stop();
      await victim.engine.stop();
    }
    await bench.kill(victim);
    if (!living.some((each) => each !== victim && each.claimer !== null)) await bench.server();
  }

  private async meddle(): Promise<void> {
    const { random, bench } = this;
    if (this.ids.length === 0) return;
    const run = random.pick(this.ids);
    const row = (await bench.store.readRun(run))!;
    const key = `${random.next()}`;
    const job = (await bench.store.readJobs(run))[0]?.id;
    const said = { reason: "sim", key };
    const commands: OperatorCommand[] = [
      { type: "run.cancel", ...said },
      { type: "run.pause", takeover: false, ...said },
    ];
    if (row.finished_at !== null && job !== undefined) {
      commands.length = 0;
      commands.push({ type: "step.retry", job, ...said }, { type: "step.resume_from", job, ...said });
    }
    await this.give(run, random.pick(commands));
  }

  private async give(run: number, command: OperatorCommand): Promise<void> {
    await this.bench.operate(run, command).catch((error: unknown) => {
      if (!(error instanceof DarumaError)) throw error;
    });
    await this.check();
  }

  /** What rests is decided, what nobody runs is resumed, until all are over. */
  private async finish(): Promise<boolean> {
    const { random, bench } = this;
    let isOver = true;
    for (const run of this.ids) {
      const row = (await bench.store.readRun(run))!;
      if (row.finished_at !== null) continue;
      isOver = false;
      if (!random.chance(0.05)) continue;
      const held = (await bench.store.readJobs(run)).find(({ status }) => status === "held");
      if (held !== undefined && row.status === "held") {
        const items = [{ job: held.id, action: "fail", output: null, items: null }] as const;
        await this.give(run, { type: "holds.resolve", items, reason: "sim", key: null });
      } else if (row.status === "paused")
        await this.give(run, { type: "run.unpause", reason: "sim", key: null });
      if (row.managed) continue;
      const owner = (await bench.store.readLease(run))?.owner ?? null;
      const isLive = bench.processes.some((each) => !each.isDead && each.owner.engine === owner?.engine);
      if (!isLive)
        await bench
          .process()
          .engine.resume(run)
          .catch((error: unknown) => {
            if (!(error instanceof DarumaError)) throw error;
          });
      await bench.settle();
    }
    return isOver;
  }

  /** Never more than each of them allows; and who has begun since the last look was first, as far as both looks tell. */
  private async check(): Promise<void> {
    const { bench } = this;
    const now = await bench.store.readGroups([...GROUPS], bench.clock.now());
    for (const group of GROUPS) {
      const under = now.filter(({ concurrency, place }) => concurrency.group === group && place !== null);
      const limit = Math.min(...under.map(({ concurrency }) => concurrency.limit));
      if (under.length > limit) this.violations.push(`${under.length} runs of ${group}, limit ${limit}`);
      for (const row of now.filter(({ place, status }) => place === null && status === "running"))
        this.violations.push(`run ${row.runId} runs without a place`);
      this.checkOrder(group, now);
    }
    this.before = now;
  }

  /** Of two runs of servers that both waited, the one behind must not begin before the other. */
  private checkOrder(group: string, now: readonly GroupMember[]): void {
    const waited = this.before.filter(
      ({ concurrency, managed, place, status }) =>
        concurrency.group === group && managed && place === null && status === "pending",
    );
    const still = now.filter(({ runId, place, status }) => {
      return place === null && status === "pending" && waited.some((each) => each.runId === runId);
    });
    const begun = now.filter(
      ({ runId, place }) => place !== null && waited.some((each) => each.runId === runId),
    );
    for (const { runId, priority } of begun) {
      const passed = still.filter(
        (other) => other.priority > priority || (other.priority === priority && other.runId < runId),
      );
      for (const other of passed) this.violations.push(`run ${runId} began before run ${other.runId}`);
    }
  }
}
