import { routeRow } from "../core/evolve/projections.js";
import type { LoggedEvent, RungConsidered } from "../core/model/events.js";
import type { FailureClass } from "../core/model/failure.js";
import { type Job, jobById } from "../core/model/run.js";
import {
  type CountedRecovery,
  countRecoveries,
  isRecoveringRung,
  type Recovery,
  type Route,
} from "./recoveries.js";
import type { Heard } from "./words/job-story.js";
import { budgetSentence } from "./words/left-budgets.js";

/** What came of a recovery: what its jobs did next, or whether the step that a failure was sent to could handle it. */
export type RecoveryEnd = "completed" | "failed" | "handled" | "unhandled" | "mixed";

/** A recovery with all that the log says of it. */
export interface ToldRecovery extends Recovery {
  /** Of the failure that it answered first. */
  readonly error: { readonly code: string; readonly class: FailureClass; readonly message: string } | null;
  /** Every rung that was looked at then. */
  readonly considered: readonly RungConsidered[];
  /** What the last time took from which budget, and what was left, in words. */
  readonly cost: string | null;
  readonly left: string | null;
  /** Null: nothing yet. */
  readonly outcome: RecoveryEnd | null;
}

interface Known {
  readonly error: ToldRecovery["error"];
  readonly considered: readonly RungConsidered[];
  readonly cost: string | null;
  readonly left: string | null;
  outcome: Exclude<RecoveryEnd, "mixed"> | null;
}

/** Hears a log beside a `RunTeller`, and keeps what it says of each recovery. */
export class RecoveryTeller {
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
    if (route === null || !isRecoveringRung(route.rung)) return;
    const job = jobById(run, route.job_id);
    const costs = told.flatMap(({ job: id, sentences }) => (id === job.id ? sentences : []));
    const known: Known = {
      error: errorOf(job),
      considered: this.climbs.get(job.id) ?? [],
      cost: costs.find(({ kind }) => kind === "cost")?.text ?? null,
      left: budgetSentence(run, job),
      outcome: null,
    };
    this.routes.push(route);
    this.known.set(seq, known);
    this.open.set(job.id, { known, isEdge: route.rung === "edge" });
  }

  get recoveries(): ToldRecovery[] {
    const visitOf = (job: number, attempt: number) => this.visits.get(`${job} ${attempt}`);
    return countRecoveries(this.routes, visitOf).map((counted) => this.tell(counted));
  }

  private tell({ recovery, routes }: CountedRecovery): ToldRecovery {
    const [first, last] = [this.known.get(routes[0]!.seq)!, this.known.get(routes.at(-1)!.seq)!];
    const newest = new Map(routes.map(({ job_id, seq }) => [job_id, this.known.get(seq)!.outcome]));
    const ends = new Set(newest.values());
    const [only = null] = ends;
    const { error, considered } = first;
    const { cost, left } = last;
    return { ...recovery, error, considered, cost, left, outcome: ends.size > 1 ? "mixed" : only };
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

function errorOf({ error }: Job): ToldRecovery["error"] {
  return error === null ? null : { code: error.code, class: error.class, message: error.message };
}
