import type { CheckpointFacts, LoggedEvent } from "../../src/core/model/events.js";
import type { Run } from "../../src/core/model/run.js";
import { lastCommit } from "../../src/core/model/workspace-state.js";
import type {
  BuiltWorkspace,
  SetAside,
  TakenOver,
  UnwantedLeftover,
  WantedWorkspace,
} from "../../src/run/engine/workspace/workspace-keeper.js";
import type { Assignment } from "../../src/run/worker.js";
import type { Random } from "./random.js";

/** What an attempt did to the files: `job/attempt`. */
type Mark = string;

/** What an attempt found when it began. */
interface Entry {
  readonly mark: Mark;
  /** Beyond the last checkpoint. */
  readonly found: readonly Mark[];
  /** Of the last checkpoint. */
  readonly lacking: readonly Mark[];
}

/**
 * The files of a run's workspaces, as far as the rules go: which attempts have worked in each tree. They outlive every
 * engine, as a disk does.
 */
export class SimulatedTrees {
  private readonly trees = new Map<string, Set<Mark>>([["/workspace", new Set()]]);
  private readonly commits = new Map<string, ReadonlySet<Mark>>([["pinned", new Set()]]);
  private readonly patches = new Map<string, ReadonlySet<Mark>>();
  private readonly entries: Entry[] = [];
  private made = 0;

  constructor(private readonly random: Random) {}

  enter({ jobId, attempt, workspace }: Assignment): void {
    if (workspace === undefined) return;
    const tree = this.treeAt(workspace.path);
    const mark = `${jobId}/${attempt}`;
    const lacking = [...this.commits.get(workspace.since)!].filter((had) => !tree.has(had));
    const found = this.since(tree, workspace.since);
    // Undo and finally steps see the tree as it is.
    if (!workspace.leavesNoCheckpoint) this.entries.push({ mark, found, lacking });
    tree.add(mark);
  }

  checkpoint({ workspace }: Assignment): CheckpointFacts | null {
    if (workspace?.leavesNoCheckpoint) return null;
    if (workspace === undefined) return { commit: "c", diff_hash: "d", changed_files: [], patch: "p" };
    const tree = this.treeAt(workspace.path);
    const changed = this.since(tree, workspace.since);
    const patch = this.name("patch");
    this.patches.set(patch, new Set(changed));
    return { commit: this.commit(tree), diff_hash: "d", changed_files: changed, patch };
  }

  rebuild({ run, rebuild, replay }: WantedWorkspace): BuiltWorkspace {
    const path = `/${rebuild}`;
    const { tree, moved } = this.replay(run, replay);
    this.trees.set(path, tree);
    return { ok: true, path, moved };
  }

  /** The workspace in another output folder: what its checkpoints hold, under other commits. */
  move(run: Run): TakenOver {
    const counting = run.workspace.checkpoints.filter(({ superseded }) => !superseded);
    const path = this.name("/moved");
    const { tree, moved } = this.replay(
      run,
      counting.map(({ ordinal }) => ordinal),
    );
    this.trees.set(path, tree);
    return { path, home: "another", host: "another", moved };
  }

  private replay(run: Run, ordinals: readonly number[]) {
    const tree = new Set<Mark>();
    const moved: { ordinal: number; commit: string }[] = [];
    for (const { ordinal, commit, patch } of run.workspace.checkpoints) {
      if (!ordinals.includes(ordinal)) continue;
      for (const mark of this.patches.get(patch)!) tree.add(mark);
      if (!isSame(tree, this.commits.get(commit)!)) moved.push({ ordinal, commit: this.commit(tree) });
    }
    return { tree, moved };
  }

  /** `half`: some of the files are back, and then the engine dies or the disk gives up. */
  setAside({ run, job, attempt, path }: UnwantedLeftover, half: boolean): SetAside {
    const tree = this.treeAt(path);
    const left = this.since(tree, lastCommit(run)!);
    for (const mark of left) if (!half || this.random.chance(0.5)) tree.delete(mark);
    return { ok: true, patch: `patches/partial/j${job}_a${attempt}.patch`, files: left.length };
  }

  /**
   * An attempt begins in the checkpoints and what its own mending left, and never in what a lost attempt left, unless that
   * had found the remains of another step, which it was to mend.
   */
  findMixing(log: readonly LoggedEvent[], keepsLost: boolean): string[] {
    const entries = new Map(this.entries.map((entry) => [entry.mark, entry]));
    const kin = new Kin();
    const lost = new Set<Mark>();
    const wrong: string[] = [];
    const begun: Mark[] = [];
    const before = new Set<Mark>();
    for (const { seq, event } of log) {
      if (event.type === "attempt.started") begun.push(`${event.job}/${event.attempt}`);
      if (event.type === "barrier.closed")
        for (const mark of begun) if (event.invalidated.includes(Number(jobIn(mark)))) before.add(mark);
      if (event.type === "visit.entered") kin.relate(event.job, event.by);
      if (event.type === "edge.taken" && event.on === "failure") kin.relate(event.job, event.target);
      if (event.type === "attempt.failed" && event.error.class === "infrastructure")
        lost.add(`${event.job}/${event.attempt}`);
      if (event.type === "attempt.stopped" && event.because === "interrupted")
        lost.add(`${event.job}/${event.attempt}`);
      const entry =
        event.type === "attempt.started" ? entries.get(`${event.job}/${event.attempt}`) : undefined;
      if (entry === undefined) continue;
      const { mark, found, lacking } = entry;
      if (lacking.length > 0) wrong.push(`at ${seq} ${mark} begins in a tree that lacks ${lacking}`);
      for (const other of found) {
        if (before.has(other)) wrong.push(`at ${seq} ${mark} begins in what ${other} left before a way back`);
        if (!kin.isOne(mark, other)) wrong.push(`at ${seq} ${mark} begins in what ${other} left`);
        const amongOthers = entries.get(other)?.found.some((before) => jobIn(before) !== jobIn(other));
        if (lost.has(other) && !amongOthers && !keepsLost)
          wrong.push(`at ${seq} ${mark} begins in what the lost attempt ${other} left`);
      }
    }
    return wrong;
  }

  private since(tree: ReadonlySet<Mark>, commit: string): Mark[] {
    return [...tree].filter((mark) => !this.commits.get(commit)!.has(mark));
  }

  private treeAt(path: string): Set<Mark> {
    const tree = this.trees.get(path);
    if (tree === undefined) throw new Error(`there is no tree at ${path}`);
    return tree;
  }

  private commit(tree: ReadonlySet<Mark>): string {
    const name = this.name("commit");
    this.commits.set(name, new Set(tree));
    return name;
  }

  private name(what: string): string {
    this.made += 1;
    return `${what}-${this.made}`;
  }
}

function jobIn(mark: Mark): string {
  return mark.split("/", 1)[0] ?? "";
}

/** Jobs that a repair or the edge of a failure has brought together. */
class Kin {
  private readonly families = new Map<string, Set<string>>();

  relate(one: number, other: number): void {
    const all = new Set([...this.of(String(one)), ...this.of(String(other))]);
    for (const job of all) this.families.set(job, all);
  }

  isOne(one: Mark, other: Mark): boolean {
    return this.of(jobOf(one)).has(jobOf(other));
  }

  private of(job: string): Set<string> {
    return this.families.get(job) ?? new Set([job]);
  }
}

function jobOf(mark: Mark): string {
  return mark.split("/", 1)[0]!;
}

function isSame(one: ReadonlySet<Mark>, other: ReadonlySet<Mark>): boolean {
  return one.size === other.size && [...one].every((mark) => other.has(mark));
}
