import { isAbsolute, join } from "node:path";
import { dependencyOrder } from "../../core/model/dependency-order.js";
import { undoneJobs } from "../../core/model/ending/run-ending.js";
import type { FileFacts, Output } from "../../core/model/events.js";
import { reducersWaiting, waitingFor } from "../../core/model/gate.js";
import { buildGraph, type GraphStep, isAncestor } from "../../core/model/graph.js";
import type { Job, Run } from "../../core/model/run.js";
import { contentOf } from "../../run/worker/file-content.js";
import type { FileTrouble, JobName, PlannedJob, WhyItRuns } from "./reasons.js";
import type { RecordedJobs } from "./recorded-jobs.js";
import { Comparison, type RunMaterial } from "./what-counts.js";

type Found = { readonly sha256: string | null } | { readonly trouble: "missing" | "unreadable" };

/** Looks whether files still have the content that was recorded; each file is read once. */
class KeptFiles {
  private readonly found = new Map<string, Promise<Found>>();

  /** `folder` is where relative paths start; "": every run has another one. */
  constructor(private readonly folder: string) {}

  /** Why a declared file has changed. Null if all are as the recorded attempt found and left them. */
  async whyChanged(
    declared: { readonly inputs: readonly string[]; readonly outputs: readonly string[] },
    recorded: readonly FileFacts[],
  ): Promise<WhyItRuns | null> {
    for (const role of ["input", "output"] as const) {
      for (const path of declared[`${role}s`]) {
        const facts = recorded.find((each) => each.role === role && each.path === path);
        const file = await this.troubleWith(path, facts?.sha256);
        if (file !== null) return { kind: `${role}_file`, path, file };
      }
    }
    return null;
  }

  /** An output that was too large for the log lies in a file of the run that made it. */
  async isThere(output: Output): Promise<boolean> {
    return output.kind === "value" || (await this.troubleWith(output.path, output.sha256)) === null;
  }

  private async troubleWith(path: string, sha256: string | null | undefined): Promise<FileTrouble | null> {
    if (sha256 === undefined) return "not_recorded";
    if (this.folder === "" && !isAbsolute(path)) return "missing";
    const found = await this.contentOf(isAbsolute(path) ? path : join(this.folder, path));
    if ("trouble" in found) return found.trouble;
    if (sha256 === null || found.sha256 === null) return "not_a_file";
    return found.sha256 === sha256 ? null : "changed";
  }

  private contentOf(file: string): Promise<Found> {
    const known = this.found.get(file);
    if (known !== undefined) return known;
    const found = contentOf(file).then(
      ({ sha256 }) => ({ sha256 }),
      (error: NodeJS.ErrnoException) => ({
        trouble: error.code === "ENOENT" ? ("missing" as const) : ("unreadable" as const),
      }),
    );
    this.found.set(file, found);
    return found;
  }
}

export interface ReusePlan {
  /** Jobs of the old run that the new one need not do again. */
  readonly taken: readonly Job[];
  /** The jobs of the new run in the order of its file. Items whose list is not known yet count as one job. */
  readonly jobs: readonly PlannedJob[];
}

/** What a new run can take over from an old one, and why it must do the rest. */
export async function planReuse(
  old: Run,
  recorded: RecordedJobs,
  now: RunMaterial,
  keepStoodIn = false,
): Promise<ReusePlan> {
  const planning = new Planning(old, recorded, now, keepStoodIn);
  planning.lookAtTexts();
  await planning.lookAtFiles(now.folder);
  return { taken: planning.taken(), jobs: planning.jobs() };
}

/** Starts with every job that could be taken over, and spreads what speaks against some of them. */
class Planning {
  private readonly comparison: Comparison;
  private readonly steps: ReadonlyMap<string, GraphStep>;
  /** Places of the steps, each after all that it depends on; and which comes when. */
  private readonly order: readonly number[];
  private readonly rank: number[] = [];
  private readonly byStep = new Map<string, Job[]>();
  private readonly byName = new Map<string, Job>();
  /** By step: jobs that read its output without depending on it. */
  private readonly readers = new Map<string, Job[]>();
  /** By job: jobs connected with it by routing, which run if it does. */
  private readonly partners = new Map<Job, Job[]>();
  private readonly undone: ReadonlySet<Job>;
  private readonly why = new Map<Job, WhyItRuns>();
  private readonly spreading: Job[] = [];

  constructor(
    private readonly old: Run,
    private readonly recorded: RecordedJobs,
    private readonly now: RunMaterial,
    /** A job that another stood in for counts as completed. */
    private readonly keepStoodIn: boolean,
  ) {
    this.comparison = new Comparison(old, now);
    this.undone = new Set(undoneJobs(old));
    this.steps = buildGraph(now.definition).byId;
    this.order = dependencyOrder(now.definition.steps).order;
    for (const [place, index] of this.order.entries()) this.rank[index] = place;
    for (const job of old.jobs) {
      if (!job.scope.open || !this.steps.has(job.step.definition.id)) continue;
      if (job.step.atEnd !== null) continue;
      append(this.byStep, job.step.definition.id, job);
      this.byName.set(`${job.scope.id} ${job.step.definition.id}`, job);
    }
    this.linkReaders();
    this.linkPartners();
  }

  /** All but the files. */
  lookAtTexts(): void {
    for (const [id, jobs] of this.byStep) {
      const changed = this.comparison.whyChanged(this.steps.get(id)!.definition);
      for (const job of jobs) {
        const why = changed ?? this.whyNotAsItEnded(job);
        if (why !== null) this.mark(job, why);
        if (job.status === "skipped") this.markWhoNeeded(job);
      }
    }
    this.spread();
  }

  /** Checks files in the order of dependencies, so that files of jobs that run anyway are not read. */
  async lookAtFiles(folder: string): Promise<void> {
    const files = new KeptFiles(folder);
    const { steps } = this.now.definition;
    for (const index of this.order) {
      const { id, files: declared } = steps[index]!;
      for (const job of this.byStep.get(id) ?? []) {
        if (!this.isTaken(job)) continue;
        const why =
          (declared === undefined
            ? null
            : await files.whyChanged(declared, this.recorded.filesOf(job) ?? [])) ??
          ((await files.isThere(job.output!)) ? null : ({ kind: "output_gone" } as const));
        if (why === null) continue;
        this.mark(job, why);
        this.spread();
      }
    }
  }

  taken(): Job[] {
    return this.old.jobs.filter((job) => this.isPlanned(job) && this.isTaken(job));
  }

  jobs(): PlannedJob[] {
    return this.now.definition.steps.flatMap(({ id }) => {
      const step = this.steps.get(id)!;
      // Whether the run comes to it depends on how it ends.
      if (step.atEnd !== null) return [];
      const known = this.plannedOf(step);
      if (!this.areItemsKnown(step)) return [this.itemsToCome(step, known)];
      if (known.length > 0) return known.map((job) => this.plannedJob(job));
      return this.byStep.has(id) || step.path.length > 0 ? [] : [newJob(id)];
    });
  }

  private plannedOf(step: GraphStep): Job[] {
    return (this.byStep.get(step.definition.id) ?? []).filter((job) => this.isPlanned(job));
  }

  private plannedJob(job: Job): PlannedJob {
    const name = nameOf(job);
    const why = this.why.get(job) ?? null;
    if (why !== null) return { ...name, verdict: "run", why };
    return { ...name, verdict: job.status === "skipped" ? "decide" : "take_over", why };
  }

  /** How many there will be is known once the list is there. */
  private itemsToCome({ path, definition }: GraphStep, known: readonly Job[]): PlannedJob {
    const scope = `root${path.map((step) => `/${step.definition.id}[]`).join("")}`;
    const own = this.comparison.whyChanged(definition) ?? (known[0] && this.why.get(known[0]));
    const list = { step: path.at(-1)!.definition.id, scope: "root" };
    return { step: definition.id, scope, verdict: "run", why: own ?? { kind: "dependency", job: list } };
  }

  /** Every list around the step is taken over, down to the last item. */
  private areItemsKnown({ path }: GraphStep): boolean {
    return path.every(
      (list) => this.plannedOf(list).every((job) => this.isTaken(job)) && this.byStep.has(list.definition.id),
    );
  }

  /** A routed step that was entered in an item is not a job of its own accord there. */
  private isPlanned({ scope, step }: Job): boolean {
    return this.steps.get(step.definition.id)?.path.length === scope.depth;
  }

  private isTaken(job: Job): boolean {
    return this.hasCompleted(job) && !this.why.has(job);
  }

  private hasCompleted({ status, stoodInBy }: Job): boolean {
    return status === "completed" || (this.keepStoodIn && stoodInBy !== null && this.isPlanned(stoodInBy));
  }

  private whyNotAsItEnded(job: Job): WhyItRuns | null {
    if (job.decided !== null) return { kind: "by_hand" };
    if (this.undone.has(job)) return { kind: "undone" };
    const isSkipped = job.status === "skipped" && this.old.options.only === null;
    // Nothing follows the success of a job that had none.
    const isFollowedUp = job.stoodInBy !== null || this.recorded.isFollowedUp(job);
    const isDone = this.hasCompleted(job) && job.output !== null && isFollowedUp;
    if (isSkipped || isDone) return null;
    if (job.stoodInBy !== null) return { kind: "stood_in", by: job.stoodInBy.step.definition.id };
    return { kind: "not_completed", status: job.status };
  }

  /**
   * Marks jobs that ran although this one was skipped: whether it is skipped is decided again, and they wait for that
   * unless another job took its place.
   */
  private markWhoNeeded(skipped: Job): void {
    for (const { job, group, branch } of waitingFor(skipped)) {
      if (job.status !== "completed") continue;
      if (branch !== null || job.step.groups[group]!.length === 1)
        this.mark(job, { kind: "dependency", job: nameOf(skipped) });
    }
  }

  private mark(job: Job, why: WhyItRuns): void {
    if (this.why.has(job)) return;
    this.why.set(job, why);
    this.spreading.push(job);
  }

  private spread(): void {
    for (let job = this.spreading.pop(); job !== undefined; job = this.spreading.pop()) {
      const because = { kind: "dependency", job: nameOf(job) } as const;
      for (const waiting of waitingFor(job)) this.mark(waiting.job, because);
      for (const reducer of job.step.definition.forEach ? reducersWaiting(this.old, job) : [])
        this.mark(reducer, because);
      for (const reader of this.readers.get(job.step.definition.id) ?? [])
        if (meets(reader, job)) this.mark(reader, because);
      for (const partner of this.partners.get(job) ?? [])
        this.mark(partner, { kind: "routing", job: nameOf(job) });
    }
  }

  private linkReaders(): void {
    for (const [id, jobs] of this.byStep) {
      const step = this.steps.get(id)!;
      for (const read of this.comparison.outputsReadBy(step.definition)) {
        const source = this.steps.get(read);
        if (source === undefined || source === step) continue;
        const isDirect = step.definition.dependsOn.some((group) => group.includes(read));
        // What comes after it can only be read on the way back. Most often the order says already that it does not.
        if (isDirect || (this.isLater(source, step) && isAncestor(step, source))) continue;
        for (const job of jobs) append(this.readers, read, job);
      }
    }
  }

  private isLater(one: GraphStep, other: GraphStep): boolean {
    return this.rank[one.index]! > this.rank[other.index]!;
  }

  private linkPartners(): void {
    for (const jobs of this.byStep.values()) {
      for (const job of jobs) {
        for (const { scope, step, on } of this.recorded.leads(job)) {
          const target = this.byName.get(`${scope} ${step}`);
          if (target === undefined) continue;
          append(this.partners, job, target);
          // Only who leads there makes it run; a repair is needed no more once what it repaired has completed.
          if (on === "success") append(this.partners, target, job);
        }
        // What stood in for it is all that the new run has of it.
        if (job.stoodInBy !== null) append(this.partners, job.stoodInBy, job);
      }
    }
  }
}

function newJob(step: string): PlannedJob {
  return { step, scope: "root", verdict: "run", why: { kind: "new_step" } };
}

/** One of them is in the scope of the other, or around it. */
function meets({ scope: one }: Job, { scope: other }: Job): boolean {
  return one === other || one.id.startsWith(`${other.id}/`) || other.id.startsWith(`${one.id}/`);
}

function nameOf({ step, scope }: Job): JobName {
  return { step: step.definition.id, scope: scope.id };
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
