import { setTimeout as delay } from "node:timers/promises";
import type { Definition } from "../../core/model/definition.js";
import { isQueued, isResting } from "../../core/model/resting.js";
import { isOver, jobById, type Run } from "../../core/model/run.js";
import type { Labels } from "../../core/text/labels.js";
import type { Problem } from "../../file/read/problem.js";
import type { Client, OutputOf } from "../../operations/client.js";
import { DEFAULT_REASON, INTERRUPTED_REASON } from "../../operations/operator-words.js";
import { type EventItem, loggedEvent } from "../../operations/runs/event-item.js";
import { ReplayedRun } from "../../tell/lookup/replayed-log.js";
import type { RunReference } from "../../tell/lookup/run-reference.js";
import { summaryOf } from "../commands/look/show.js";
import { type ResumeFlags, type RunFlags, reused } from "../commands/run/run-flags.js";
import { commandLine } from "../declare/command-words.js";
import { chooseProgress, INTERRUPTED, nextInterrupt, tellEnd } from "../follow-run.js";
import { lookAt } from "../look.js";
import { printLifted } from "../print-change.js";
import type { Progress } from "../render/progress.js";
import { ServerOutput } from "../render/step-output.js";
import { type FollowFlags, refuseLocalFlags } from "../server/server-flags.js";
import { outlivePipes } from "../terminal/broken-pipe.js";
import { type Session, writeJson, writeLines } from "../terminal/channel.js";
import { EXIT } from "../terminal/exit-codes.js";
import { problemLines } from "../terminal/report-error.js";
import { writeReports } from "../write-reports.js";
import { openClient } from "./open-client.js";
import { whatToRun } from "./what-to-run.js";
import { topRunOf } from "./who-goes-on.js";

const EVENTS_PER_PAGE = 1_000;
const CANCEL_WAIT_MS = 10_000;
/** How often to check what a run waits for if its own log does not say so: its place, or a child run that is held. */
const WAIT_POLL_MS = 2_000;

interface Variables {
  readonly inputs: { readonly [name: string]: unknown };
  readonly context: { readonly [name: string]: unknown };
  readonly labels?: Labels;
}

/** `daruma run FILE --server URL`: sends the file's text to the server, and shows what happens there. */
export async function runRemotely(
  session: Session,
  file: string,
  flags: RunFlags,
  variables: Variables,
): Promise<number> {
  refuseLocalFlags(flags);
  const client = await openClient(session.options);
  const what = whatToRun(file, flags, session.options);
  if ("source" in what && !session.options.quiet) await tellWarnings(session, client, what);
  return startRemotely(session, client, flags, () =>
    client.call("start_run", {
      ...what,
      ...variables,
      ...(flags.priority === undefined ? {} : { priority: flags.priority }),
      failure_routing: flags.failureRouting,
      ...(flags.onFailMaxLoops === undefined ? {} : { max_loops: flags.onFailMaxLoops }),
      ...(flags.retryMax === undefined ? {} : { retry_max: flags.retryMax }),
      ...(flags.only === undefined ? {} : { only: flags.only }),
      ...(flags.strict === true ? { strict: true } : {}),
      ...(flags.reuse === undefined ? {} : { reuse: reused(flags.reuse) }),
      ...(flags.keepStoodIn === true ? { keep_stood_in: true } : {}),
      ...(flags.key === undefined ? {} : { key: flags.key }),
    }),
  );
}

async function tellWarnings(
  { err }: Session,
  client: Client,
  { source, file_name }: { readonly source: string; readonly file_name: string },
): Promise<void> {
  const { warnings } = await client.call("validate_workflow", { source, file_name });
  if (warnings.length > 0)
    writeLines(err, problemLines(warnings as readonly Problem[], "warning", err.paint));
}

export async function startRemotely(
  session: Session,
  client: Client,
  flags: FollowFlags,
  start: () => Promise<OutputOf<"start_run">>,
): Promise<number> {
  const started = await start();
  if (!session.options.quiet) writeLines(session.err, [placeText(started)]);
  if (flags.detach !== true) return new ServerRun(session, client, started.run_id, flags).follow();
  if (session.options.json) writeJson(session.out, started);
  else
    writeLines(session.out, [
      `run ${started.run_id} of ${started.workflow} is ${started.status} on the server`,
    ]);
  return EXIT.completed;
}

function placeText({ run_id, folder }: OutputOf<"start_run">): string {
  const where = folder ?? "its own folder on each worker";
  return `steps of run ${run_id} work in ${where}`;
}

/** `daruma resume RUN --server URL`: lifts the pause so that the run goes on there. */
export async function resumeRemotely(
  session: Session,
  reference: RunReference,
  flags: ResumeFlags,
): Promise<number> {
  refuseLocalFlags(flags);
  const client = await openClient(session.options);
  const { run_id } = await client.call("get_run_definition", { run_id: reference });
  const run = new ServerRun(session, client, run_id, flags);
  // Past events are not printed again.
  await run.catchUp();
  const { reason = DEFAULT_REASON, key } = flags;
  const answer = await client.call("control_run", { run_id, action: "resume", reason, key });
  if (flags.detach === true) {
    if (session.options.json) writeJson(session.out, answer);
    else writeLines(session.out, [`run ${run_id} is ${answer.status} on the server`]);
    return EXIT.completed;
  }
  // The run's program continues it, whenever that starts.
  if (answer.status === "running" && answer.owner === null) {
    printLifted(session, answer, await topRunOf(client, run_id));
    return EXIT.completed;
  }
  return run.follow();
}

/** A run at a server, rebuilt here from its log. */
export class ServerRun {
  private run: Run | null = null;
  private replay: ReplayedRun | null = null;
  private seen = 0;

  constructor(
    private readonly session: Session,
    private readonly client: Client,
    private readonly runId: number,
    private readonly flags: FollowFlags,
  ) {}

  /** Reads the log up to its present end. */
  async catchUp(): Promise<void> {
    for (;;) {
      const request = { run_id: this.runId, after: this.seen, limit: EVENTS_PER_PAGE };
      const page = await this.client.call("list_run_events", request);
      for (const item of page.items) await this.fold(item as EventItem);
      if (page.next === null) return;
    }
  }

  /** Follows the run until it rests and `again` does not continue it. */
  async follow(again: () => Promise<boolean> = async () => false): Promise<number> {
    const { session, client, runId } = this;
    outlivePipes();
    const stop = new AbortController();
    try {
      const outcome = await Promise.race([this.untilItStays(stop.signal, again), nextInterrupt()]);
      if (outcome === INTERRUPTED) return await this.interrupt();
      const shown = await client.call("get_run", { run_id: runId });
      const summary = summaryOf(shown);
      const look = await lookAt(session, client, [runId]);
      const { report: reports, strict } = this.flags;
      const exitCode = await tellEnd(session, summary, look, strict);
      return await writeReports(session, client, { runId, reports, exitCode, strict });
    } finally {
      stop.abort();
    }
  }

  /** Waits until the run rests. Returns false if this process was interrupted before that. */
  async rested(): Promise<boolean> {
    outlivePipes();
    const stop = new AbortController();
    try {
      return (await Promise.race([this.untilItRests(stop.signal), nextInterrupt()])) !== INTERRUPTED;
    } finally {
      stop.abort();
    }
  }

  private async untilItStays(signal: AbortSignal, again: () => Promise<boolean>): Promise<void> {
    do await this.untilItRests(signal);
    while (!signal.aborted && (await again()));
  }

  private async untilItRests(signal: AbortSignal): Promise<void> {
    const progress = await chooseProgress(this.session, this.client);
    const output = this.flags.verbose === true ? new ServerOutput(this.client, progress, signal) : null;
    const rest = new AbortController();
    try {
      const isOld = this.seen > 0;
      if (isOld) await this.catchUp();
      if (isOld && this.rests()) return;
      for (const job of this.run?.running ?? []) output?.follow(job, job.attempt);
      const request = { run_id: this.runId, after: this.seen };
      void this.tellWait(progress, signal);
      const reading = AbortSignal.any([signal, rest.signal]);
      void this.untilHeldBelow(reading).then(() => rest.abort());
      for await (const { data } of this.client.stream("list_run_events", request, reading)) {
        const logged = await this.fold(data as EventItem);
        progress.events(this.run!, [logged]);
        const { event } = logged;
        if (event.type === "attempt.started") output?.follow(jobById(this.run!, event.job), event.attempt);
        if (this.rests()) return;
      }
    } finally {
      rest.abort();
      await output?.ended();
      progress.end();
    }
  }

  /** Shows what the run waits for before it starts, whenever that changes. */
  private async tellWait(progress: Progress, signal: AbortSignal): Promise<void> {
    for (let told: string | null = null; !signal.aborted && (this.run === null || isQueued(this.run)); ) {
      const shown = await this.client.call("get_run", { run_id: this.runId, jobs: "none" }).catch(() => null);
      const text = shown?.waits_for?.kind === "place" ? shown.waits_for.text : null;
      // The run has started since, which its events show.
      if (shown !== null && text === null) return;
      if (text !== null && text !== told) progress.say(`run ${this.runId} has not started: ${text}`);
      told = text ?? told;
      await delay(WAIT_POLL_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Resolves when a child run is held, which the log of its parent does not say. */
  private async untilHeldBelow(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await delay(WAIT_POLL_MS, undefined, { signal, ref: false }).catch(() => {})) {
      if (this.run === null || !hasChildRun(this.run)) continue;
      const shown = await this.client.call("get_run", { run_id: this.runId, jobs: "none" }).catch(() => null);
      if (shown !== null && shown.held_below.length > 0) return;
    }
  }

  private rests(): boolean {
    return this.run !== null && (isOver(this.run) || isResting(this.run));
  }

  private async fold(item: EventItem): Promise<ReturnType<typeof loggedEvent>> {
    const logged = loggedEvent(item);
    if (this.replay === null) {
      const { definition } = await this.client.call("get_run_definition", { run_id: this.runId });
      this.replay = new ReplayedRun(this.runId, () => definition as unknown as Definition);
    }
    this.run = this.replay.fold(logged);
    this.seen = logged.seq;
    return logged;
  }

  /** Stops watching. The run is the server's, so it goes on. */
  private async interrupt(): Promise<number> {
    const { session, client, runId, flags } = this;
    const { err, options } = session;
    if (flags.cancelOnInterrupt === true) {
      const reason = INTERRUPTED_REASON;
      const request = { run_id: runId, action: "cancel", reason, wait_ms: CANCEL_WAIT_MS } as const;
      const { status } = await client.call("control_run", request);
      writeLines(err, [`run ${runId} is ${status === "running" ? "being canceled" : status}`]);
    } else {
      const left = options.server === undefined ? "stopped watching" : "detached";
      const where = options.server === undefined ? "is left as it is" : "continues on the server";
      writeLines(err, [`${left}; run ${runId} ${where}: ${commandLine(options, `show ${runId}`)}`]);
    }
    if (options.json)
      writeJson(session.out, summaryOf(await client.call("get_run", { run_id: runId })).report);
    return EXIT.interrupted;
  }
}

function hasChildRun({ running, ready }: Run): boolean {
  return [...running, ...ready].some(({ step }) => step.definition.action.type === "workflow");
}
