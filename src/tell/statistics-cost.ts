import { HUMAN } from "../core/model/worker-names.js";
import { list, nullable, number, type OfFields, object, text } from "../core/text/shape.js";
import type { AttemptCount, CountedStep, FailureCount } from "../store/counts.js";

const SPENT = {
  attempts: number,
  /** Attempts of completed jobs for each time that one of them succeeded; null where nothing completed. */
  attempts_until_success: nullable(number),
  running_ms: number,
  /** The time of attempts that did not succeed. */
  lost_ms: number,
  /** Between a failed attempt and the one that it was retried with: backoff, recovery scripts, free places. */
  retry_waiting_ms: number,
} as const;
type Spent = OfFields<typeof SPENT>;

const ACTION_EFFORT = {
  action: text,
  attempts: number,
  failed: number,
  retries: number,
  retry_rate: number,
} as const;
type ActionEffort = OfFields<typeof ACTION_EFFORT>;

const ERROR_COUNT = { code: text, class: text, count: number, rate: number } as const;
type ErrorCount = OfFields<typeof ERROR_COUNT>;

/** What it took to get there. */
export const EFFORT = {
  ...SPENT,
  retries: number,
  retry_rate: number,
  by_action: list(object(ACTION_EFFORT)),
  errors: list(object(ERROR_COUNT)),
  timeouts: object({ wall: number, idle: number }),
} as const;
type Effort = OfFields<typeof EFFORT>;

export const WORKFLOW_EFFORT = { workflow: text, runs: number, ...SPENT } as const;
export type WorkflowEffort = Spent & { readonly workflow: string };

export const WORKER_EFFORT = {
  worker: text,
  attempts: number,
  failed: number,
  /** Failed attempts of the class infrastructure, for example because a worker was lost. */
  lost: number,
  running_ms: number,
} as const;
type WorkerEffort = OfFields<typeof WORKER_EFFORT>;

/** What they do is another attempt in the same visit. */
const RETRY_RUNGS: ReadonlySet<string> = new Set(["retry", "reset", "requeue", "rule"]);

interface Costs extends Effort {
  readonly by_workflow: ReadonlyMap<string, WorkflowEffort>;
  readonly by_worker: readonly WorkerEffort[];
}

interface Rows {
  readonly attempts: readonly AttemptCount[];
  readonly failures: readonly FailureCount[];
}

export function costsOf(rows: Rows, actionOf: (step: CountedStep) => string): Costs {
  const { attempts, failures } = rows;
  const all = effortOf(rows);
  const retries = retriesOf(failures);
  const count = (code: string): number =>
    sum(
      failures.filter((each) => each.code === code),
      ({ failures: more }) => more,
    );
  return {
    ...all,
    retries,
    retry_rate: rateOf(retries, all.attempts),
    by_action: byAction(rows, actionOf),
    errors: errorsOf(failures, all.attempts),
    timeouts: { wall: count("TIMEOUT"), idle: count("IDLE_TIMEOUT") },
    by_workflow: new Map(
      [...new Set(attempts.map(({ workflow }) => workflow))].map((workflow) => [
        workflow,
        {
          workflow,
          ...effortOf({
            attempts: attempts.filter((each) => each.workflow === workflow),
            failures: failures.filter((each) => each.workflow === workflow),
          }),
        },
      ]),
    ),
    by_worker: byWorker(rows),
  };
}

function effortOf({ attempts, failures }: Rows): Spent {
  const succeeded = attempts.filter(({ status }) => status === "succeeded");
  const completed = attempts.filter((each) => each.completed);
  const successes = sum(
    completed.filter(({ status }) => status === "succeeded"),
    countOf,
  );
  const running = sum(attempts, msOf);
  return {
    attempts: sum(attempts, countOf),
    attempts_until_success: successes === 0 ? null : sum(completed, countOf) / successes,
    running_ms: running,
    lost_ms: running - sum(succeeded, msOf),
    retry_waiting_ms: sum(failures.filter(isRetried), ({ waited_ms }) => waited_ms),
  };
}

function byAction({ attempts, failures }: Rows, actionOf: (step: CountedStep) => string): ActionEffort[] {
  const actions = new Map<string, { attempts: number; failed: number; retries: number }>();
  const at = (step: CountedStep): { attempts: number; failed: number; retries: number } => {
    const action = actionOf(step);
    const counts = actions.get(action) ?? { attempts: 0, failed: 0, retries: 0 };
    actions.set(action, counts);
    return counts;
  };
  for (const each of attempts) {
    at(each).attempts += each.attempts;
    if (each.status === "failed") at(each).failed += each.attempts;
  }
  for (const each of failures.filter(isRetried)) at(each).retries += each.again;
  return [...actions]
    .map(([action, counts]) => ({ action, ...counts, retry_rate: rateOf(counts.retries, counts.attempts) }))
    .sort((a, b) => b.attempts - a.attempts);
}

function errorsOf(failures: readonly FailureCount[], attempts: number): ErrorCount[] {
  const errors = new Map<string, { class: string; count: number }>();
  for (const { code, class: failureClass, failures: more } of failures) {
    const before = errors.get(code)?.count ?? 0;
    errors.set(code, { class: failureClass, count: before + more });
  }
  return [...errors]
    .map(([code, counted]) => ({ code, ...counted, rate: rateOf(counted.count, attempts) }))
    .sort((a, b) => b.count - a.count);
}

function byWorker({ attempts, failures }: Rows): WorkerEffort[] {
  // What a person is asked runs on no worker.
  return [...new Set(attempts.map(({ worker }) => worker).filter((worker) => worker !== HUMAN))]
    .map((worker) => {
      const own = attempts.filter((each) => each.worker === worker);
      const lost = failures.filter((each) => each.worker === worker && each.class === "infrastructure");
      return {
        worker,
        attempts: sum(own, countOf),
        failed: sum(
          own.filter(({ status }) => status === "failed"),
          countOf,
        ),
        lost: sum(lost, ({ failures: more }) => more),
        running_ms: sum(own, msOf),
      };
    })
    .sort((a, b) => b.lost - a.lost || b.attempts - a.attempts);
}

function retriesOf(failures: readonly FailureCount[]): number {
  return sum(failures.filter(isRetried), ({ again }) => again);
}

function isRetried({ action }: FailureCount): boolean {
  return RETRY_RUNGS.has(action);
}

function countOf({ attempts }: AttemptCount): number {
  return attempts;
}

function msOf({ ms }: AttemptCount): number {
  return ms;
}

function sum<T>(rows: readonly T[], numberOf: (row: T) => number): number {
  return rows.reduce((total, row) => total + numberOf(row), 0);
}

function rateOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
