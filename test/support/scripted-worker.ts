import type { UserData } from "../../src/core/model/batch/user-data.js";
import type { CheckpointFacts } from "../../src/core/model/events.js";
import type { FailureFacts } from "../../src/core/model/failure.js";
import type { Outcome as Said, Succeeded } from "../../src/core/model/outcome.js";
import type { Json } from "../../src/core/text/json.js";
import type { Clock } from "../../src/run/engine/clock.js";
import { LocalRoom } from "../../src/run/worker/room.js";
import type { Assignment, Ended, Needs, Seat, Worker } from "../../src/run/worker.js";

/**
 * What one attempt of a step does. `takesMs` is time on the manual clock; `endsWith` is the exit code of its own with
 * which it takes being ended.
 */
export type Outcome =
  | "ok"
  | "fail"
  | {
      readonly exit: number;
      readonly takesMs?: number;
      readonly stderr?: string;
      /** What its message says beside the exit code. */
      readonly said?: string;
      readonly diffHash?: string;
      readonly endsWith?: number;
    }
  | {
      readonly output: Json;
      readonly takesMs?: number;
      readonly checkpoint?: CheckpointFacts;
      readonly userData?: UserData;
      readonly endsWith?: number;
    }
  | {
      readonly facts: FailureFacts;
      readonly output?: Json;
      readonly takesMs?: number;
      readonly used?: Said["used"];
    };

/** By step id (`<step> script` for its recovery script): outcomes attempt by attempt (the last one repeats), or a function of the assignment. */
export type Script = {
  readonly [step: string]: readonly Outcome[] | ((assignment: Assignment, nth: number) => Outcome);
};

/** A worker that does what a script says, on the manual clock, and remembers the order in which steps started. */
export class ScriptedWorker implements Worker {
  readonly name = "scripted";
  /** Steps as they started; in an item scope with their item. */
  readonly order: string[] = [];
  readonly startedAt: number[] = [];
  readonly stopped: string[] = [];
  /** What it is told to end goes on to its end all the same. */
  deaf = false;
  /** What can be had at most where it works. */
  mostOf: NonNullable<Worker["mostOf"]> = () => null;
  private readonly counts = new Map<string, number>();
  private readonly room: LocalRoom;

  constructor(
    private readonly clock: Clock,
    private readonly script: Script,
    capacity = 8,
  ) {
    this.room = new LocalRoom(this.name, capacity, { elapsed: () => clock.elapsed() });
  }

  place(needs: Needs): Seat | "full" | null {
    return this.room.place(needs);
  }

  keepRoomFor(needs: Needs | null): boolean {
    return this.room.keepFor(needs);
  }

  release(place: Seat): void {
    this.room.release(place);
  }

  execute(assignment: Assignment, place: Seat | null, signal: AbortSignal, ended: Ended): void {
    void this.run(assignment, place, signal).then((said) => ended(said));
  }

  run(assignment: Assignment, _place: Seat | null, signal: AbortSignal): Promise<Said> {
    const { jobId } = assignment;
    const name = nameOf(assignment);
    const foreach = assignment.variables.foreach as { index: number } | null | undefined;
    this.order.push(foreach == null ? name : `${name}[${foreach.index}]`);
    this.startedAt.push(this.clock.now());
    const key = `${name} ${jobId}`;
    const nth = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, nth);
    if (assignment.failedAlready !== null)
      return Promise.resolve({ kind: "failed", facts: assignment.failedAlready });
    return this.settle(assignment, this.outcomeOf(assignment, nth), signal);
  }

  private settle(assignment: Assignment, outcome: Outcome, signal: AbortSignal): Promise<Said> {
    const takesMs = typeof outcome === "string" ? 0 : (outcome.takesMs ?? 0);
    const said = saidOf(outcome);
    const used = typeof outcome === "object" && "facts" in outcome ? outcome.used : undefined;
    if (takesMs === 0) return Promise.resolve({ ...said, ...(used === undefined ? {} : { used }) });
    return new Promise((resolve) => {
      const startedAt = this.clock.now();
      const cancel = this.clock.setTimer(startedAt + takesMs, () =>
        resolve({ ...said, duration_ms: takesMs }),
      );
      signal.addEventListener("abort", () => {
        if (this.deaf) return;
        cancel();
        this.stopped.push(nameOf(assignment));
        resolve({ ...endOf(outcome), duration_ms: this.clock.now() - startedAt });
      });
    });
  }

  private outcomeOf(assignment: Assignment, nth: number): Outcome {
    const entry = this.script[nameOf(assignment)];
    if (entry === undefined) return "ok";
    if (typeof entry === "function") return entry(assignment, nth);
    return entry[Math.min(nth, entry.length) - 1] ?? "ok";
  }

  adopt(): boolean {
    return false;
  }

  onRoom(): () => void {
    return () => {};
  }

  async endLeftovers(): Promise<void> {}
  async close(): Promise<void> {}
}

/** The part of a worker that finds places, for one that has room for everything. */
export function freePlaces(worker: string): Pick<Worker, "place" | "release" | "adopt" | "onRoom"> {
  return { place: () => ({ worker }), release: () => {}, adopt: () => false, onRoom: () => () => {} };
}

function nameOf({ stepId, recovery }: Assignment): string {
  return recovery ? `${stepId} script` : stepId;
}

function endOf(outcome: Outcome): Said {
  const exit = typeof outcome === "object" && "endsWith" in outcome ? outcome.endsWith : undefined;
  return exit === undefined ? { kind: "stopped" } : saidOf({ exit });
}

function saidOf(outcome: Outcome): Said {
  if (outcome === "ok") return succeeded(null);
  if (outcome === "fail") return saidOf({ exit: 1 });
  if ("exit" in outcome) {
    const stderrTail = outcome.stderr ?? "";
    return {
      kind: "failed",
      facts: {
        exitCode: outcome.exit,
        message: `exit code ${outcome.exit}`,
        said: outcome.said ?? "",
        stderrTail,
        diffHash: outcome.diffHash ?? null,
      },
    };
  }
  if ("facts" in outcome) {
    const { facts, output: value } = outcome;
    return { kind: "failed", facts, ...(value === undefined ? {} : { output: { kind: "value", value } }) };
  }
  const { output, checkpoint = null, userData } = outcome;
  return { ...succeeded(output), checkpoint, ...(userData === undefined ? {} : { user_data: userData }) };
}

/** What a step of the workspace leaves when it completes. */
export function checkpointed(name: string, more: { takesMs?: number } = {}): Outcome {
  return {
    output: null,
    checkpoint: { commit: `commit-${name}`, diff_hash: `diff-${name}`, changed_files: [name], patch: name },
    ...more,
  };
}

function succeeded(value: Json): Succeeded {
  const items = Array.isArray(value)
    ? value.map((item, index) => ({ key: typeof item === "string" ? item : String(index) }))
    : null;
  return { kind: "succeeded", output: { kind: "value", value }, items };
}
