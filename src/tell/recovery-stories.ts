import { routeRow } from "../core/evolve/projections.js";
import type { LoggedEvent, RungConsidered } from "../core/model/events.js";
import { brokeOf } from "../core/model/excerpt.js";
import type { ErrorRecord } from "../core/model/failure.js";
import { type Job, jobById, type Run } from "../core/model/run.js";
import {
  type CountedRecovery,
  countRecoveries,
  isRecoveringRung,
  type Recovery,
  type Route,
} from "./recoveries.js";
import type { Heard } from "./words/job-story.js";
import { budgetsLeft, type LeftBudget, sentenceOf } from "./words/left-budgets.js";

/** What came of a recovery: what its jobs did next, or whether the step that a failure was sent to could handle it. */
export type RecoveryEnd = "completed" | "failed" | "handled" | "unhandled" | "mixed";

type RecoveryError = Pick<ErrorRecord, "code" | "class" | "message"> & {
  /** One line that says what broke. */
  readonly broke: string;
};

/** A recovery with all that the log says of it. */
export interface RecoveryStory extends Recovery {
  /** The first failure that it answered. */
  readonly error: RecoveryError | null;
  /** Every rung that was looked at then. */
  readonly considered: readonly RungConsidered[];
  /** Text that says what the last time took from which budget, and what was left. */
  readonly cost: string | null;
  readonly left: string | null;
  /** What was left, for programs. */
  readonly budgets: readonly LeftBudget[];
  /** Null while there is no outcome. */
  readonly outcome: RecoveryEnd | null;
}

interface Known {
  readonly error: RecoveryStory["error"];
  readonly considered: readonly RungConsidered[];
  cost: string | null;
  budgets: readonly LeftBudget[];
  outcome: Exclude<RecoveryEnd, "mixed"> | null;
}

/** Hears a log beside a `RunTeller`, and keeps what it says of each recovery. */
export class RecoveryReader {
  private readonly routes: Route[] = [];
  private readonly known = new Map<number, Known>();
  private readonly visits = new Map<string, number>();
  private readonly climbs = new Map<number, readonly RungConsidered[]>();
  /** The newest recovery of each job, which the job's next end belongs to. */
  private readonly open = new Map<number, { readonly known: Known; readonly isEdge: boolean }>();

  hear({ seq, at, event }: LoggedEvent, { run, told }: Heard): void {
    switch (event.type) {
      case "attempt.started":
        this.visits.set(`${event.job} ${event.attempt}`, event.visit);
        return;
      case "attempt.succeeded":
        return this.end(event.job, "completed");
      case "attempt.failed":
        return this.end(event.job, "failed");
      case "routes.settled":
        for (const job of event.handled) this.settle(job, "handled");
        for (const job of event.unhandled) this.settle(job, "unhandled");
        return;
      case "ladder.climbed":
        this.climbs.set(event.job, event.considered);
        return;
      default:
    }
    const route = routeRow(run, event, seq, at);
    if (route === null || !isRecoveringRung(route.rung)) return this.payLater(run, told);
    const job = jobById(run, route.job_id);
    const known: Known = {
      error: errorOf(job),
      considered: this.climbs.get(job.id) ?? [],
      cost: costOf(job.id, told),
      budgets: budgetsLeft(run, job),
      outcome: null,
    };
    this.routes.push(route);
    this.known.set(seq, known);
    this.open.set(job.id, { known, isEdge: route.rung === "edge" });
  }

  /** A repair is paid for when it has worked out and the step runs again. */
  private payLater(run: Run, told: Heard["told"]): void {
    for (const { job } of told) {
      const known = this.open.get(job)?.known;
      if (known === undefined || known.cost !== null) continue;
      known.cost = costOf(job, told);
      if (known.cost !== null) known.budgets = budgetsLeft(run, jobById(run, job));
    }
  }

  get recoveries(): RecoveryStory[] {
    const visitOf = (job: number, attempt: number) => this.visits.get(`${job} ${attempt}`);
    return countRecoveries(this.routes, visitOf).map((counted) => this.tell(counted));
  }

  private tell({ recovery, routes }: CountedRecovery): RecoveryStory {
    const [first, last] = [this.known.get(routes[0]!.seq)!, this.known.get(routes.at(-1)!.seq)!];
    const newest = new Map(routes.map(({ job_id, seq }) => [job_id, this.known.get(seq)!.outcome]));
    const ends = new Set(newest.values());
    const [only = null] = ends;
    const { error, considered } = first;
    const { cost, budgets } = last;
    const outcome = ends.size > 1 ? "mixed" : only;
    return { ...recovery, error, considered, cost, left: sentenceOf(budgets), budgets, outcome };
  }

  private end(job: number, how: "completed" | "failed"): void {
    const open = this.open.get(job);
    if (open === undefined || open.isEdge) return;
    open.known.outcome = how;
    this.open.delete(job);
  }

  private settle(job: number, how: "handled" | "unhandled"): void {
    const open = this.open.get(job);
    if (open?.isEdge === true) open.known.outcome = how;
  }
}

/** Hears a log beside a `RunTeller`, and keeps what the ladder of one job still had after each failed attempt. */
export class BudgetReader {
  private readonly after = new Map<number, readonly LeftBudget[]>();
  /** The attempt that failed last. */
  private failed: number | null = null;

  /** Null for no job. */
  constructor(private readonly job: number | null) {}

  hear({ seq, at, event }: LoggedEvent, { run }: Heard): void {
    if (this.job === null) return;
    if (event.type === "ladder.climbed" && event.job === this.job) {
      this.failed = event.attempt;
      this.keep(run);
    }
    if (event.type === "attempt.started" && event.job === this.job) this.failed = null;
    // What acts takes its share with an event of its own.
    if (this.failed !== null && routeRow(run, event, seq, at)?.job_id === this.job) this.keep(run);
  }

  get left(): { readonly attempt: number; readonly budgets: readonly LeftBudget[] }[] {
    return [...this.after].map(([attempt, budgets]) => ({ attempt, budgets }));
  }

  private keep(run: Heard["run"]): void {
    this.after.set(this.failed!, budgetsLeft(run, jobById(run, this.job!)));
  }
}

function costOf(job: number, told: Heard["told"]): string | null {
  const sentences = told.flatMap((each) => (each.job === job ? each.sentences : []));
  return sentences.find(({ kind }) => kind === "cost")?.text ?? null;
}

function errorOf({ error }: Job): RecoveryStory["error"] {
  return error === null
    ? null
    : { code: error.code, class: error.class, message: error.message, broke: brokeOf(error) };
}
