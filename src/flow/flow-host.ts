import type { LoggedEvent } from "../core/model/events.js";
import { FUNCTION, programAction, programFor } from "../core/model/flow.js";
import type { Outcome } from "../core/model/outcome.js";
import { type Job, jobById, type Run } from "../core/model/run.js";
import type { Json } from "../core/text/json.js";
import type { Action, Attempt } from "../run/action/action.js";
import { functionAction } from "../run/action/function-action.js";
import type { AnyFlow } from "./flow.js";
import type { ProgramPorts } from "./program-ports.js";
import { type AnyFunction, ProgramRun } from "./program-run.js";

/** How long a program stays in memory once all that it waits for rests. */
const LINGER_MS = 1_000;

export interface FlowHostPorts extends Omit<ProgramPorts, "lingerMs"> {
  /** Null if this process does not run it. */
  readonly runOf: (runId: number) => Run | null;
}

/** The programs of this process, and what of them is being executed. */
export class FlowHost {
  private readonly flows = new Map<string, AnyFlow>();
  /** By the job of the program. */
  private readonly programs = new Map<number, ProgramRun>();

  constructor(
    /** Called with what is needed to execute a program, or any function. */
    private readonly register: (action: Action) => void,
    private readonly ports: FlowHostPorts,
  ) {
    register({ ...functionAction(FUNCTION, () => null), run: (attempt) => this.executeFunction(attempt) });
  }

  /** From now on the program of this name is this one, also for attempts of runs that began with another. */
  add(flow: AnyFlow): void {
    this.flows.set(flow.name, flow);
    const type = programAction(flow.name);
    this.register({ type, silent: true, run: (attempt) => this.execute(attempt, flow.name) });
  }

  /** The actions that only a process with these programs has. */
  get actions(): string[] {
    return [...this.flows.keys()].map(programAction);
  }

  /** Something is still to happen in a program without anybody doing anything. */
  get isActive(): boolean {
    return [...this.programs.values()].some(({ isActive }) => isActive);
  }

  hear(run: Run, events: readonly LoggedEvent[]): void {
    for (const program of this.programs.values()) if (program.run === run) program.hear(events);
  }

  private async execute(attempt: Attempt, name: string): Promise<Outcome<Json>> {
    const run = this.ports.runOf(attempt.runId);
    if (run === null) return GONE;
    const main = jobById(run, attempt.jobId);
    const ports = { ...this.ports, lingerMs: LINGER_MS };
    const program = new ProgramRun(run, main, this.flows.get(name)!, attempt, ports);
    this.programs.set(main.id, program);
    try {
      return await program.execute();
    } finally {
      if (this.programs.get(main.id) === program) this.programs.delete(main.id);
    }
  }

  private executeFunction(attempt: Attempt): Promise<Outcome<Json>> {
    const run = this.ports.runOf(attempt.runId);
    const job = run === null ? null : jobById(run, attempt.jobId);
    const work = job === null ? null : this.functionOf(job);
    if (job === null || work === null) return Promise.resolve(GONE);
    const key = `${attempt.runId}/${job.scope.id}/${attempt.stepId}`;
    return functionAction(
      FUNCTION,
      ({ signal, attempt: n, log }) => work({ signal, attempt: n, log, key }) as Json,
    ).run(attempt);
  }

  private functionOf(job: Job): AnyFunction | null {
    const program = programFor(job);
    return (program === null ? null : this.programs.get(program.id)?.functionOf(job)) ?? null;
  }
}

/** Its program is not at work any more: it begins again when the program calls it again. */
const GONE: Outcome<Json> = {
  kind: "failed",
  facts: { lost: true, message: "its program is not at work here" },
};
