import { actionTraits } from "../../src/core/model/action-traits.js";
import type { Command } from "../../src/core/model/commands.js";
import type { Outcome } from "../../src/core/model/outcome.js";
import { LocalRoom } from "../../src/run/worker/room.js";
import type { Assignment, Ended, Fate, HeldAttempt, Seat, Worker } from "../../src/run/worker.js";
import type { ManualClock } from "../support/manual-clock.js";
import type { Random } from "./random.js";
import type { SimulatedTrees } from "./simulated-trees.js";

export interface WorkerWeather {
  readonly failure: number;
  readonly lost: number;
  readonly duplicate: number;
  readonly remote: number;
  /** The start of this attempt is in the store. */
  readonly isOnRecord: (assignment: Assignment) => Promise<boolean>;
  /** Put something to whichever engine is the present one. */
  readonly post: (runId: number, command: Command) => void;
}

interface Report {
  readonly outcome: Outcome;
  readonly settled?: (fate: Fate) => void;
}

/** An attempt on a worker that does not die with the engine. */
interface Remote {
  readonly assignment: Assignment;
  ended: Outcome | null;
  listener: ((report: Report | null) => void) | null;
  stop: () => void;
}

/** The workers of all engines of one story: some attempts die with their engine, the others are there to be adopted. */
export class SimulatedWorkers {
  private readonly executing = new Map<number, string>();
  private readonly remotes = new Map<string, Remote>();
  /** Attempts with effects that began before their start was committed. */
  readonly unrecorded: string[] = [];
  private incarnation = 0;

  constructor(
    private readonly random: Random,
    private readonly clock: ManualClock,
    private readonly weather: WorkerWeather,
    private readonly trees: SimulatedTrees,
  ) {}

  /** The worker of the next engine. What ran inside the one before is gone. */
  boot(dead: { value: boolean }): Worker {
    this.incarnation += 1;
    this.executing.clear();
    const room = new LocalRoom(`local-${this.incarnation}`, this.random.between(1, 4));
    return {
      // The files of a workspace lie where the engine is.
      place: (needs) => (needs.usesWorkspace ? room.place(needs) : this.placeAnywhere(room.place(needs))),
      keepRoomFor: (needs) => room.keepFor(needs),
      release: (place) => room.release((place as RemotePlace).inner ?? place),
      ...(this.random.chance(0.3) ? { doesNothingAs: `local-${this.incarnation}` } : {}),
      execute: (assignment, place, signal, ended) => {
        void this.noteUnlessRecorded(assignment);
        const isRemote = place === null ? this.random.chance(0.5) : "inner" in place;
        const reported = isRemote ? this.begin(assignment, signal) : this.execute(assignment, signal, dead);
        tell(
          reported.then((report) => report),
          ended,
        );
      },
      adopt: (held, signal, ended) => {
        const reported = this.adopt(held, signal);
        if (reported !== null) tell(reported, ended);
        return reported !== null;
      },
      onRoom: () => () => {},
      endLeftovers: async () => {},
      close: async () => {},
    };
  }

  /** Only what has no effects may begin before it is on record. */
  private async noteUnlessRecorded(assignment: Assignment): Promise<void> {
    if (!actionTraits(assignment.action.type).hasEffects || (await this.weather.isOnRecord(assignment)))
      return;
    this.unrecorded.push(`job ${assignment.jobId}, attempt ${assignment.attempt}`);
  }

  private placeAnywhere(inner: Seat | "full" | null): Seat | "full" | null {
    if (inner === "full" || inner === null || !this.random.chance(this.weather.remote)) return inner;
    return { worker: "far-away", inner } as RemotePlace;
  }

  private execute(assignment: Assignment, signal: AbortSignal, dead: { value: boolean }): Promise<Report> {
    const { random, clock } = this;
    this.claim(assignment);
    const duration_ms = random.between(0, 40);
    const outcome = this.outcome(assignment);
    return new Promise((resolve) => {
      const finish = (what: Outcome): void => {
        if (dead.value) return;
        this.executing.delete(assignment.jobId);
        resolve({ outcome: { ...what, duration_ms } });
        if (random.chance(this.weather.duplicate)) this.repeat(assignment, what);
      };
      const cancel = clock.setTimer(clock.now() + duration_ms, () => finish(outcome));
      signal.addEventListener("abort", () => {
        cancel();
        clock.setTimer(clock.now() + random.between(0, 30), () =>
          finish(random.chance(0.7) ? { kind: "stopped" } : outcome),
        );
      });
    });
  }

  private claim({ jobId, token }: Assignment): void {
    const other = [...this.remotes.values()].find(
      (remote) => remote.assignment.jobId === jobId && remote.ended === null,
    );
    if (this.executing.has(jobId) || other !== undefined) throw new Error(`job ${jobId} runs twice at once`);
    this.executing.set(jobId, token);
  }

  private begin(assignment: Assignment, signal: AbortSignal): Promise<Report | null> {
    const { random, clock } = this;
    this.claim(assignment);
    this.executing.delete(assignment.jobId);
    const duration_ms = random.between(0, 80);
    const outcome = this.outcome(assignment);
    const remote: Remote = { assignment, ended: null, listener: null, stop: () => {} };
    const finish = (what: Outcome): void => {
      remote.ended ??= { ...what, duration_ms };
      this.deliver(remote);
    };
    const cancel = clock.setTimer(clock.now() + duration_ms, () => finish(outcome));
    remote.stop = () => {
      cancel();
      clock.setTimer(clock.now() + random.between(0, 30), () => finish({ kind: "stopped" }));
    };
    this.remotes.set(assignment.token, remote);
    return this.listen(remote, signal);
  }

  /** A new engine asks: the worker is sometimes gone for good, then the attempt is lost some time later. */
  private adopt(held: HeldAttempt, signal: AbortSignal): Promise<Report | null> | null {
    if (held.worker !== "far-away" && !held.recovery) return null;
    const remote = this.remotes.get(held.token);
    if (remote === undefined) return held.recovery ? null : this.lostLater();
    if (this.random.chance(0.2)) {
      this.remotes.delete(held.token);
      return this.lostLater();
    }
    return this.listen(remote, signal);
  }

  private lostLater(): Promise<Report> {
    const outcome = { kind: "failed", facts: { lost: true, message: "silent" } } as const;
    return new Promise((resolve) =>
      this.clock.setTimer(this.clock.now() + this.random.between(0, 60), () => resolve({ outcome })),
    );
  }

  private listen(remote: Remote, signal: AbortSignal): Promise<Report | null> {
    return new Promise((resolve) => {
      remote.listener = resolve;
      signal.addEventListener("abort", () => {
        if (signal.reason === "stopped") return remote.stop();
        if (remote.listener === resolve) remote.listener = null;
        resolve(null);
      });
      if (remote.ended !== null) this.deliver(remote);
    });
  }

  /** Until somebody has it on record, or has no use for it. */
  private deliver(remote: Remote): void {
    const { token } = remote.assignment;
    if (this.remotes.get(token) !== remote || remote.ended === null) return;
    const { listener, ended } = remote;
    remote.listener = null;
    const settled = (fate: Fate): void => {
      // A recovery script that runs again has the same token.
      if (fate !== "not_owned" && this.remotes.get(token) === remote) this.remotes.delete(token);
    };
    listener?.({ outcome: ended, settled });
    if (this.random.chance(this.weather.duplicate)) this.repeat(remote.assignment, ended);
  }

  /** The same result once more, later, when much may have happened in between. */
  private repeat(assignment: Assignment, said: Outcome): void {
    const { runId, jobId: job, attempt } = assignment;
    const outcome = { ...said, duration_ms: 0 };
    this.clock.setTimer(this.clock.now() + this.random.between(0, 100), () => {
      this.weather.post(runId, { type: "attempt.finish", job, attempt, outcome });
    });
  }

  /** Whatever it leads to, the attempt has changed something by then. */
  private outcome(assignment: Assignment): Outcome {
    const { random, weather, trees } = this;
    trees.enter(assignment);
    if (random.chance(weather.lost))
      return random.chance(0.5)
        ? { kind: "failed", facts: { lost: true, message: "the worker is gone" } }
        : {
            kind: "failed",
            facts: { evicted: true, exitCode: random.pick([0, 1, 143]), message: "stopped" },
          };
    if (random.chance(weather.failure)) {
      return {
        kind: "failed",
        facts: random.pick([
          { exitCode: 1, message: "exit code 1" },
          { exitCode: 10, message: "exit code 10" },
          { exitCode: 10, message: "hopeless", declared: { retryable: false } },
          { exitCode: 137, code: "OOM", message: "too much" },
          { exitCode: 152, code: "WALLTIME", message: "too long" },
          { httpStatus: 400, message: "bad request" },
          { timeout: "wall", message: "too slow" } as const,
          { httpStatus: 503, message: "unavailable" },
          { exitCode: 1, message: "exit code 1", diffHash: random.pick(["a", "b"]) },
        ]),
      };
    }
    const items = Array.from({ length: random.between(0, 3) }, (_, index) => ({ key: String(index) }));
    return {
      kind: "succeeded",
      output: { kind: "value", value: items.map(({ key }) => key) },
      items: random.chance(0.9) ? items : null,
      checkpoint: trees.checkpoint(assignment),
    };
  }
}

interface RemotePlace extends Seat {
  readonly inner: Seat;
}

/** Some turns after it has ended, as what comes from elsewhere. */
function tell(reported: Promise<Report | null>, ended: Ended): void {
  void reported.then((report) => report).then((report) => ended(report?.outcome ?? null, report?.settled));
}
