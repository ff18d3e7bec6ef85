import { answerLost } from "../../src/fleet/allocations/check-spec.js";
import {
  type AllocationProvider,
  type AllocationStatus,
  isRefusal,
  type Plan,
  type Refusal,
  type Target,
} from "../../src/fleet/allocations/provider.js";
import { planSlurm } from "../../src/fleet/allocations/slurm/plan.js";
import { classifySlurm } from "../../src/fleet/allocations/slurm/states.js";

const MIB = 1024 ** 2;

/** Three nodes with four processors each, as the scripts bring up. */
export const MAIN: Target = {
  name: "main",
  max: {},
  perNode: { cpus: 4, memoryBytes: 4000 * MIB, gpus: 0 },
  preemptible: false,
  up: true,
  isDefault: true,
};

/** A batch system in memory that does only what a test says, judged as Slurm is. */
export class FakeCluster implements AllocationProvider {
  readonly name = "slurm";
  readonly plan = planSlurm;
  readonly classify = classifySlurm;
  /** Keys in the order in which they were submitted; one that is there twice was submitted twice. */
  readonly submitted: string[] = [];
  readonly plans = new Map<string, Plan>();
  readonly canceled: string[] = [];
  /** What the next submissions are answered with. */
  readonly answers: (Refusal | "lost" | "never" | "timed_out")[] = [];
  targets: readonly Target[] = [MAIN];
  isSilent = false;
  /** Only what it has to offer cannot be told. */
  isUnprobed = false;
  questions = 0;
  private readonly known = new Map<string, AllocationStatus[]>();
  private nextId = 1;

  async probe() {
    this.refuseSilence();
    if (this.isUnprobed) throw new Error("scontrol does not answer");
    return {
      version: "fake",
      capabilities: { accounting: true, requeue: true, memoryEnforced: "allocation" as const },
      targets: this.targets,
    };
  }

  async submit(plan: Plan) {
    this.refuseSilence();
    const answer = this.answers.shift();
    if (answer !== undefined && typeof answer === "object" && isRefusal(answer)) return answer;
    if (answer === "never") throw new Error("the submission broke off");
    const { key } = plan.spec;
    this.submitted.push(key);
    this.plans.set(key, plan);
    const id = String(this.nextId++);
    this.known.set(id, [status(id, key)]);
    if (answer === "lost") throw new Error("the answer was lost");
    if (answer === "timed_out") return answerLost("sbatch did not answer");
    return { id, found: false };
  }

  async status(ids: readonly string[]) {
    this.questions += 1;
    const unreachable = { phase: "unknown", source: "unreachable" } as const;
    return new Map(
      ids.map((id) => [
        id,
        this.isSilent
          ? [{ ...status(id, null), ...unreachable }]
          : (this.known.get(id) ?? [{ ...status(id, null), phase: "unknown", source: "none" } as const]),
      ]),
    );
  }

  async list(prefix: string) {
    this.refuseSilence();
    return [...this.known.values()].map((all) => all.at(-1)!).filter(({ key }) => key?.startsWith(prefix));
  }

  async cancel(id: string, how: "drain" | "now") {
    this.refuseSilence();
    this.canceled.push(`${id} ${how}`);
    const last = this.known.get(id)?.at(-1);
    if (last === undefined || last.phase === "ended") return "gone";
    if (how === "now" || last.phase === "pending") this.end(id, "CANCELLED");
    return "asked";
  }

  start(id: string, node: string, at: number): void {
    this.change(id, { phase: "running", nodes: [node], startedAt: at, native: native("RUNNING") });
  }

  end(id: string, state: string, exitCode = 0): void {
    this.change(id, { phase: "ended", source: "accounting", native: { ...native(state), exitCode } });
  }

  /** It is being taken down; why is not said yet. */
  leave(id: string): void {
    this.change(id, { phase: "ending", native: native("COMPLETING") });
  }

  stick(id: string): void {
    this.change(id, { stuck: true });
  }

  /** The batch system ends it and puts it back into its queue. */
  requeue(id: string): void {
    this.end(id, "REQUEUED");
    const all = this.known.get(id)!;
    const { key, restart } = all.at(-1)!;
    all.push({ ...status(id, key), restart: restart + 1 });
  }

  /** Neither queue nor accounting know it any more. */
  forget(id: string): void {
    this.known.delete(id);
  }

  /** What has not ended, by id. */
  inQueue(): string[] {
    return [...this.known.entries()].flatMap(([id, all]) => (all.at(-1)!.phase === "ended" ? [] : [id]));
  }

  private change(id: string, changes: Partial<AllocationStatus>): void {
    const all = this.known.get(id)!;
    all[all.length - 1] = { ...all.at(-1)!, ...changes };
  }

  private refuseSilence(): void {
    if (this.isSilent) throw new Error("the queue does not answer");
  }
}

function native(state: string): AllocationStatus["native"] {
  return { state, reason: null, exitCode: null, signal: null };
}

function status(id: string, key: string | null): AllocationStatus {
  return {
    ...{ id, key, restart: 0, phase: "pending", stuck: false, native: native("PENDING"), nodes: [] },
    ...{ startedAt: null, endedAt: null, limit: { runtimeMs: null, memoryBytes: null } },
    ...{ peakMemoryBytes: null, source: "queue" },
  };
}
