import type { Definition, StepDefinition } from "../../core/model/definition.js";
import { isRecorded, programOf } from "../../core/model/flow.js";
import type { GraphStep } from "../../core/model/graph.js";
import type { Job, Run, Scope } from "../../core/model/run.js";

/** What a program has called, as a workflow that can be drawn. */
export interface CalledSteps {
  readonly definition: Definition;
  /** By job: the step of `definition` that stands for it. In two maps there may be steps of one name. */
  readonly drawnAs: ReadonlyMap<number, string>;
  /** By step of `definition`: its name in the run, where that is another. */
  readonly named: ReadonlyMap<string, string>;
}

/** A step that was called after very many others at once is drawn behind the last of them. */
const MAX_NEAREST = 50;

/** Null: the run is of a file. */
export function calledSteps(run: Run): CalledSteps | null {
  const program = programOf(run);
  return program === null ? null : new CallPicture(run, program).drawn();
}

interface Drawn {
  readonly id: string;
  readonly step: GraphStep;
  /** In the order in which they were first called. */
  readonly place: number;
  readonly behind: Set<Drawn>;
}

/** A called job whose outcome has a number. */
interface Known {
  readonly job: Job;
  /** The most that any job knew when it was called, of those with an outcome up to this one. */
  readonly mostKnown: number;
}

class CallPicture {
  private readonly steps: Drawn[] = [];
  /** By the step whose items it lies in, and by name: definitions of one step may change from call to call. */
  private readonly byPlace = new Map<string, Drawn>();
  private readonly ids = new Set<string>();
  private readonly drawnAs = new Map<number, string>();
  private readonly outcomes = new Map<Scope, readonly Known[]>();

  constructor(
    private readonly run: Run,
    private readonly program: Job,
  ) {}

  drawn(): CalledSteps {
    const { run, program } = this;
    const root = this.draw(program.step);
    for (const job of run.jobs) this.drawnAs.set(job.id, this.draw(job.step).id);
    for (const job of run.jobs) {
      if (job.call === null || !isRecorded(job)) continue;
      const drawn = this.draw(job.step);
      for (const before of this.nearest(job)) {
        const from = before === program ? root : this.draw(before.step);
        // Items may call the same steps in another order; a picture of them all has no circles.
        if (from.place < drawn.place) drawn.behind.add(from);
      }
    }
    const steps = this.steps.map((each) => this.definitionOf(each));
    const named = this.steps.map(({ id, step }) => [id, step.definition.id] as const);
    return {
      definition: { ...run.definition, steps },
      drawnAs: this.drawnAs,
      named: new Map(named.filter(([id, name]) => id !== name)),
    };
  }

  private draw(step: GraphStep): Drawn {
    const { id } = step.definition;
    const path = [...step.path.map(({ definition }) => definition.id), id].join("/");
    const place = step === this.program.step ? "" : path;
    const known = this.byPlace.get(place);
    if (known !== undefined) return known;
    const free = [id, path, `${path} of the program`].find((each) => !this.ids.has(each))!;
    const drawn = { id: free, step, place: this.steps.length, behind: new Set<Drawn>() };
    this.ids.add(free);
    this.byPlace.set(place, drawn);
    this.steps.push(drawn);
    for (const repair of this.routedFrom(step)) this.draw(repair);
    return drawn;
  }

  private routedFrom({ definition, path }: GraphStep): GraphStep[] {
    const beside = this.run.graph.called.get(path.at(-1) ?? null);
    return definition.onFail.run.flatMap((id) => beside?.get(id) ?? []);
  }

  private definitionOf({ id, step, behind }: Drawn): StepDefinition {
    const { definition } = step;
    const run = this.routedFrom(step).map((repair) => this.draw(repair).id);
    const dependsOn = [...behind].map((from) => [from.id]);
    return { ...definition, id, dependsOn, onFail: { ...definition.onFail, run } };
  }

  /**
   * What it may have been called because of: the outcomes that its program knew, without those that others which it knew
   * had been called after. In an item they are those of the item.
   */
  private nearest({ scope, call }: Job): Job[] {
    const known = this.outcomesIn(scope);
    const { after } = call!;
    const found: Job[] = [];
    let at = lastUpTo(known, after);
    const farthest = known[at]?.mostKnown ?? 0;
    for (; at >= 0 && known[at]!.job.call!.outcome > farthest && found.length < MAX_NEAREST; at -= 1)
      found.push(known[at]!.job);
    return found.length > 0 ? found.reverse() : [scope.opener ?? this.program];
  }

  /** Of what was called in a scope and in its items, in order. */
  private outcomesIn(scope: Scope): readonly Known[] {
    const before = this.outcomes.get(scope);
    if (before !== undefined) return before;
    const inside = (at: Scope | null): boolean => at !== null && (at === scope || inside(at.parent));
    const jobs = scope.parent === null ? this.run.jobs : jobsBelow(scope);
    const ended = jobs.filter((job) => job.call !== null && job.call.outcome > 0 && inside(job.scope));
    ended.sort((a, b) => a.call!.outcome - b.call!.outcome);
    let mostKnown = 0;
    const known = ended.map((job) => {
      mostKnown = Math.max(mostKnown, job.call!.after);
      return { job, mostKnown };
    });
    this.outcomes.set(scope, known);
    return known;
  }
}

function jobsBelow(scope: Scope): Job[] {
  const below = [...scope.children.values()].flat().flatMap(jobsBelow);
  return [...scope.jobs.values(), ...below];
}

/** The place of the last outcome up to this number; -1: there is none. */
function lastUpTo(known: readonly Known[], outcome: number): number {
  let [from, to] = [0, known.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (known[middle]!.job.call!.outcome <= outcome) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
