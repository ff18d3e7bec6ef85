import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { Outcome } from "../../src/core/model/outcome.js";
import type { AttemptRow, RunRow } from "../../src/core/model/rows.js";
import { WorkerPool } from "../../src/fleet/desk/pool.js";
import type { LocalPart } from "../../src/fleet/desk/pool-placement.js";
import type {
  ClaimAnswer,
  Held,
  LiveControl,
  Registration,
  ReportsAnswer,
  SentOutcome,
} from "../../src/fleet/desk/protocol.js";
import { type Extent, LocalRoom } from "../../src/run/worker/room.js";
import type { Assignment, Ended, Fate, HeldAttempt, Needs } from "../../src/run/worker.js";
import { ManualClock } from "./manual-clock.js";

export const LEASE_MS = 90_000;
export const JOB = 10_000_001;
export const NEEDS: Needs = {
  slots: 1,
  cpus: 0,
  memoryBytes: 0,
  gpus: 0,
  nodes: 1,
  runtimeMs: null,
  tags: [],
  wants: [],
  actionType: "command",
  usesWorkspace: false,
};
/** What the engine is told of an attempt whose worker is gone. */
export const LOST = { kind: "failed", facts: { lost: true } };

export interface Running {
  readonly controller: AbortController;
  /** What the engine was told, in order. */
  readonly told: (Outcome | null)[];
  /** What became of the last of it. */
  settle(fate: Fate): void;
}

/** A pool on the manual clock, with the worker `w1` and the attempt `t1` unless told. */
export class PoolBench {
  folder = "";
  clock = new ManualClock();
  /** What the store says of attempts. */
  rows: AttemptRow[] = [];
  readonly controls = new Map<number, LiveControl>();
  /** What the store says of runs. */
  runs: RunRow[] = [];
  pool: WorkerPool = this.open();
  /** By worker. */
  private readonly sessions = new Map<string, string>();

  constructor() {
    beforeEach(() => {
      this.folder = mkdtempSync(join(tmpdir(), "daruma-pool-"));
      this.clock = new ManualClock();
      this.rows = [];
      this.runs = [];
      this.pool = this.open();
    });
    afterEach(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Another pool: the server was started again. */
  open(slots = 0, extent?: Extent): WorkerPool {
    this.pool = new WorkerPool({
      local: localPart(slots, extent),
      outputDir: this.folder,
      clock: this.clock,
      leaseMs: LEASE_MS,
      controlOf: (runId) => this.controls.get(runId) ?? null,
      recorded: {
        readAttempts: async () => this.rows,
        readJob: async () => null,
        readRun: async (runId) => this.runs.find(({ id }) => id === runId) ?? null,
      },
    });
    return this.pool;
  }

  get desk(): WorkerPool["desk"] {
    return this.pool.desk;
  }

  register(changes: Partial<Registration> = {}): string {
    const { worker_id, session } = this.desk.register(registration(changes));
    this.sessions.set(worker_id, session);
    return worker_id;
  }

  /** In the worker's last session. */
  claim(id: string, waitMs?: number, gone: AbortSignal | null = null): Promise<ClaimAnswer> {
    const session = this.sessions.get(id)!;
    return this.desk.claim(id, { session, ...(waitMs === undefined ? {} : { wait_ms: waitMs }) }, gone);
  }

  /** The next claim of a worker that was asked what it has. */
  answer(id: string, answers: { readonly [wanted: string]: boolean }): Promise<ClaimAnswer> {
    return this.desk.claim(id, { session: this.sessions.get(id)!, answers });
  }

  /** Reports of the worker's last session, which ask for what is next. */
  reportAndClaim(id: string, ...reports: SentOutcome[]): Promise<ReportsAnswer> {
    return this.desk.reportAndClaim(id, { reports, session: this.sessions.get(id)! });
  }

  execute(changes: Partial<Assignment> = {}, needs: Needs = NEEDS): Running {
    return this.begin(changes, needs)();
  }

  /** A place is taken, and the start is being committed until the answer is called. */
  begin(changes: Partial<Assignment> = {}, needs: Needs = NEEDS): () => Running {
    const place = this.pool.place(needs);
    if (place === "full" || place === null) throw new Error(`no place: ${place}`);
    const controller = new AbortController();
    const { signal } = controller;
    return () => follow(controller, (ended) => this.pool.execute(assignment(changes), place, signal, ended));
  }

  /** An attempt that its worker has, as far as the server knows. */
  async deliver(): Promise<{ id: string; running: Running }> {
    const id = this.register();
    const running = this.execute();
    await this.claim(id);
    return { id, running };
  }

  adopt(changes: Partial<HeldAttempt> = {}): Running {
    const controller = new AbortController();
    const attempt: HeldAttempt = {
      runId: 1,
      workflowId: 1,
      jobId: JOB,
      attempt: 1,
      token: "t1",
      worker: "w1/aaaaaaaa",
      recovery: false,
      needs: NEEDS,
      ...changes,
    };
    return follow(controller, (ended) => this.pool.adopt(attempt, controller.signal, ended));
  }
}

export function localPart(slots: number, extent?: Extent): LocalPart {
  const room = new LocalRoom("local-1", slots, extent === undefined ? {} : { extent: () => extent });
  return {
    name: "local-1",
    slots,
    used: 0,
    tags: [],
    hasAction: () => true,
    extent: room.extent,
    place: (needs) => room.place(needs),
    keepRoomFor: (needs) => room.keepFor(needs),
    release: (place) => room.release(place),
    execute: (_assignment, _place, _signal, ended) => ended({ kind: "stopped" }),
    adopt: () => false,
    onRoom: () => () => {},
    endLeftovers: async () => {},
    close: async () => {},
  };
}

export function registration(changes: Partial<Registration> = {}): Registration {
  return {
    instance: "aaaaaaaa-0000",
    name: "w1",
    slots: 2,
    cpus: 4,
    memory_bytes: 1_000,
    tags: [],
    actions: ["command"],
    attempts: [],
    ...changes,
  };
}

export function assignment(changes: Partial<Assignment> = {}): Assignment {
  return {
    runId: 1,
    workflowId: 1,
    jobId: JOB,
    stepId: "a",
    attempt: 1,
    token: "t1",
    startedAt: 0,
    action: { type: "command", exec: "true" },
    env: {},
    secrets: [],
    cwd: ".",
    variables: {},
    timeoutMs: null,
    idleTimeoutMs: null,
    killGraceMs: 0,
    outputSchema: null,
    resources: null,
    runsOn: [],
    summarize: null,
    returnCode: null,
    recovery: false,
    lastWorker: null,
    failureSource: null,
    failureContext: null,
    failedAlready: null,
    ...changes,
  };
}

export function follow(controller: AbortController, begin: (ended: Ended) => void): Running {
  const told: (Outcome | null)[] = [];
  let last: Parameters<Ended>[1];
  begin((outcome, settled) => {
    told.push(outcome);
    last = settled;
  });
  return { controller, told, settle: (fate) => last?.(fate) };
}

export const held = (token = "t1"): Held => ({ job: JOB, attempt: 1, recovery: false, token });

export function report(changes: Partial<SentOutcome> = {}): SentOutcome {
  return {
    ...held(),
    outcome: { kind: "succeeded", output: { kind: "value", value: 1 }, duration_ms: 5 },
    logs: [],
    summary: null,
    ...changes,
  };
}

export const tokensOf = (answer: { assignments: readonly Assignment[] }): string[] =>
  answer.assignments.map(({ token }) => token);

/** Let every promise that can settle do so. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
