import { describe, expect, it } from "vitest";
import type { CampaignItem } from "../../src/core/campaign/campaign.js";
import { DarumaError } from "../../src/core/errors/errors.js";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import type { Event } from "../../src/core/model/events.js";
import type { JobRow, RunRow } from "../../src/core/model/rows.js";
import { workOnCampaigns } from "../../src/operations/campaigns/run-campaigns.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";
import { jobRow, runRow } from "../contract/store-fixtures.js";
import { aCampaignTouchesOnlyItsItems } from "../support/invariants-campaign.js";
import { Random } from "./random.js";

const SEEDS = Number(process.env.SIM_SEEDS ?? 20);
const MAX_ROUNDS = 2_000;

/** Jobs of many runs, people who decide some of them, and a duty that is killed between any two of its steps. */
class CampaignWorld {
  readonly random: Random;
  readonly jobs = new Map<number, JobRow>();
  readonly events: Event[] = [];
  readonly strangers: string[] = [];
  now = 1;
  private readonly keys = new Set<string>();
  private readonly memory = createMemoryStore();

  constructor(seed: number) {
    this.random = new Random(seed);
    const count = this.random.between(1, 40);
    for (let n = 1; n <= count + 5; n += 1)
      this.jobs.set(n * 10_000_000 + 1, jobRow(n, 1, { status: "failed", attempt_id: 1, visit: 1 }));
  }

  get store(): Store {
    const broken = { chance: () => this.random.chance(0.02) };
    const orDie = <T>(value: T): T => {
      if (broken.chance()) throw new Error("killed");
      return value;
    };
    return {
      ...this.memory,
      readJob: async (id: number) => orDie(this.jobs.get(id) ?? null),
      readRun: async (id: number): Promise<RunRow> =>
        runRow(id, {
          status: this.jobs.get(id * 10_000_000 + 1)!.status === "failed" ? "failed" : "running",
        }),
      writeCampaign: async (campaign) => {
        orDie(null);
        const written = await this.memory.writeCampaign(campaign);
        return orDie(written);
      },
    };
  }

  operate = async (_runId: number, command: OperatorCommand): Promise<never> => {
    if (command.type !== "step.retry") throw new Error(`unexpected ${command.type}`);
    if (this.random.chance(0.05)) throw new Error("killed");
    if (this.random.chance(0.05)) throw new DarumaError("RUN_OWNED", "no answer");
    const { job: id, key } = command;
    if (this.keys.has(key!)) return undefined as never;
    if (this.random.chance(0.05)) throw new DarumaError("WORKSPACE_NOT_FOUND", "gone");
    this.keys.add(key!);
    const job = this.jobs.get(id)!;
    if (job.status !== "failed") this.strangers.push(`${key} decided a job that was ${job.status}`);
    this.events.push({
      type: "jobs.retried",
      jobs: [id],
      reblocked: [],
      action: "retry_step",
      reason: "",
      key,
    });
    this.jobs.set(id, { ...job, status: "running", visit: job.visit + 1, attempt_id: job.attempt_id + 1 });
    if (this.random.chance(0.05)) throw new Error("killed after it was taken");
    return undefined as never;
  };

  /** Whatever else happens: attempts end, people decide. */
  turn(badness: number): void {
    this.now += this.random.between(0, 30_000);
    for (const [id, job] of this.jobs) {
      if (job.status === "running" && this.random.chance(0.5))
        this.jobs.set(id, { ...job, status: this.random.chance(badness) ? "failed" : "completed" });
      else if (job.status === "failed" && this.random.chance(0.01))
        this.jobs.set(id, { ...job, status: "completed", visit: job.visit + 1 });
    }
  }
}

describe("campaigns in rough weather", () => {
  it(`touch only their items, each once, and come to an end, seeds 1 to ${SEEDS}`, {
    tags: ["B7"],
  }, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const world = new CampaignWorld(seed);
      const { random } = world;
      const mine = [...world.jobs.values()].slice(0, -5);
      const made = await world.store.createCampaign({
        ...{ state: "running", why: null, created_at: 0, wave: 0, left_out: [] },
        plan: {
          ...{
            action: "retry",
            canary: random.between(1, 3),
            factor: random.between(1, 3),
            reason: "",
            by: "",
          },
          ...{ per_minute: random.chance(0.3) ? 5 : null, stop_at: 0.2, wait_ms: 600_000 },
        },
        items: mine.map(
          ({ id, run_id }): CampaignItem => ({
            ...{ run_id, job_id: id, visit: 1, attempt: 1, kind: "failed", state: "waiting" },
            ...{ code: null, wave: null, sent_at: null },
          }),
        ),
      });
      const { id } = made as { id: number };
      const badness = random.chance(0.5) ? 0 : 0.3;
      const look = { operate: world.operate as never, now: () => world.now };
      for (let round = 0; ; round += 1) {
        expect(round, `seed ${seed} hangs`).toBeLessThan(MAX_ROUNDS);
        const { store } = world;
        await workOnCampaigns({ store, ...look }).catch(() => {});
        const { state } = (await store.readCampaign(id))!;
        if (state === "done" || state === "stopped") break;
        world.turn(badness);
      }
      const campaign = (await world.store.readCampaign(id))!;
      const problems = [...aCampaignTouchesOnlyItsItems(campaign, world.events), ...world.strangers];
      expect(problems, `seed ${seed}`).toEqual([]);
      const waiting = campaign.items.filter((item) => item.state === "waiting").map(({ job_id }) => job_id);
      const touched = new Set(world.events.flatMap((event) => ("jobs" in event ? event.jobs : [])));
      expect(
        waiting.filter((job) => touched.has(job)),
        `seed ${seed}: not sent, yet touched`,
      ).toEqual([]);
      if (campaign.state === "done") expect(waiting, `seed ${seed}`).toEqual([]);
      if (badness === 0) expect(campaign.state, `seed ${seed}`).toBe("done");
    }
  });
});
