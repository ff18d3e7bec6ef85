import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ClusterServer } from "./cluster-server.js";
import { until } from "./real-allocations.js";

/** Of a test on a real cluster; `.ci/run --all` asks for 200. */
export const ATTEMPTS = Number(process.env.ATTEMPTS ?? 16);

/**
 * Of the jobs of a round, which wait for each other. Most of the time of an allocation: of jobs that take no more than
 * half of it some are planned to run after others. A busy machine needs minutes.
 */
const ROUND_TIME = "50m";
export const ROUND_ALLOCATION_TIME = "55m";

export interface InterruptedAttempts {
  readonly attempts: number;
  readonly interrupted: number;
  /** Recorded as completed, or as failed by themselves, though their allocation was ended under them. */
  readonly wrong: readonly string[];
  /** Redone, though what happened left them alone. */
  readonly redone: readonly string[];
}

type Happening = (run: number) => Promise<{ readonly endsAllocations: (place: string) => boolean }>;

/** What programs do with the signal that ends their allocation. They wait for a gate, for as long as a round takes. */
const PROGRAMS: readonly ((gate: string) => string)[] = [
  // A shell that goes on when what it waits for is ended.
  (gate) => `sh -c "until test -e ${gate}; do sleep 0.2; done"; echo end`,
  // It saves its work, and says that all is well.
  (gate) => `trap "exit 0" TERM; until test -e ${gate}; do sleep 0.2; done`,
  (gate) => `trap "sleep 0.3; exit 0" TERM; until test -e ${gate}; do sleep 0.2; done`,
  // It takes no notice.
  (gate) => `trap : TERM; until test -e ${gate}; do sleep 0.2; done`,
];

/** Rounds of jobs on a real cluster to which something happens while they run. */
export class Interruptions {
  private rounds = 0;
  private attempts = 0;
  private interrupted = 0;
  private readonly wrong: string[] = [];
  private readonly redone: string[] = [];

  constructor(
    private readonly server: ClusterServer,
    private readonly jobsAtOnce: number,
  ) {}

  /** Starts jobs, waits till all run, lets it happen, and looks how each attempt has ended. */
  async round(on: string, happen: Happening, after?: () => Promise<unknown>): Promise<void> {
    this.rounds += 1;
    await this.play(on, happen, after).catch(async (error: Error) => {
      throw new Error(`round ${this.rounds}: ${error.message}\n${await this.server.standing()}`, {
        cause: error,
      });
    });
    if (process.env.ATTEMPTS !== undefined)
      console.info(`${new Date().toISOString()} round ${this.rounds}: ${JSON.stringify(this.found)}`);
  }

  private async play(
    on: string,
    happen: Happening,
    after: () => Promise<unknown> = async () => {},
  ): Promise<void> {
    const { server } = this;
    const gate = server.gate(`round-${this.rounds}`);
    const gateFile = join(server.folder, `round-${this.rounds}.gate`);
    const marks = Array.from({ length: this.jobsAtOnce }, (_, at) =>
      join(server.folder, `round-${this.rounds}-${at}`),
    );
    const steps = marks.map((mark, at) => {
      const program = PROGRAMS[at % PROGRAMS.length]!(gateFile);
      // The second time there is nothing to wait for.
      const exec = `test $DARUMA_ATTEMPT_ID -gt 1 && exit 0; touch ${mark}; ${program}`;
      const keys = `shell: [sh, -c], runs_on: [${on}], resource_requirements: { num_cpus: 1, memory: 50m, runtime: ${ROUND_TIME} }`;
      return `  s${at}: { exec: '${exec}', ${keys} }\n`;
    });
    const run = await server.submit(`round-${this.rounds}`, `steps:\n${steps.join("")}`);
    await until("all of them run", async () => marks.every((mark) => existsSync(mark)));
    const { endsAllocations } = await happen(run);
    gate.open();
    await after();
    const status = await server.ends(run);
    if (status !== "completed") this.wrong.push(`run ${run} ended ${status}`);
    await this.look(run, endsAllocations);
  }

  private async look(run: number, endsAllocations: (place: string) => boolean): Promise<void> {
    const events = await this.server.events(run);
    for (const { job, attempt, allocation, restart } of events.filter(
      ({ type }) => type === "attempt.started",
    )) {
      if (attempt !== 1) continue;
      this.attempts += 1;
      const ends = events.filter(
        (event) =>
          event.job === job &&
          event.attempt === 1 &&
          ["attempt.succeeded", "attempt.failed", "attempt.stopped"].includes(event.type),
      );
      const told = ends.map(({ type, error }) =>
        type === "attempt.failed" ? (error as { class: string }).class : type,
      );
      const what = `run ${run} job ${job} in ${allocation}: ${told.join(", ")}`;
      if (endsAllocations(`${allocation}#${restart}`)) {
        this.interrupted += 1;
        if (told.join() !== "infrastructure") this.wrong.push(what);
      } else if (told.join() !== "attempt.succeeded") this.redone.push(what);
    }
  }

  get found(): InterruptedAttempts {
    const { attempts, interrupted, wrong, redone } = this;
    return { attempts, interrupted, wrong, redone };
  }
}

/** Until somebody lets it, a cluster whose allocation somebody else has canceled submits nothing more; each suspends it. */
export async function resume(server: ClusterServer, cluster: string): Promise<void> {
  await server.idle();
  await until("the cluster is suspended", () => server.isSuspended(cluster));
  await server.ask("allocations", "resume", cluster);
}

/** All allocations are asked to finish what they run, and their workers know. */
export async function drainAll(server: ClusterServer): Promise<void> {
  for (const { key } of await server.allocations({ live: true }))
    await server.ask("allocations", "drain", key);
  await until("all of them drain", async () => (await server.workers()).every(({ draining }) => draining));
}

/** No first attempt of the run goes on, on this node or anywhere. */
export function noneRunsOn(server: ClusterServer, run: number, node?: string): Promise<void> {
  return until("the attempts there have ended", async () => {
    const events = (await server.events(run)).filter(({ attempt }) => attempt === 1);
    const ended = new Set(events.flatMap(({ type, job }) => (/failed|succeeded/.test(type) ? [job] : [])));
    const started = events.filter(({ type }) => type === "attempt.started");
    return started.every((each) => ended.has(each.job) || (node !== undefined && each.node !== node));
  });
}
