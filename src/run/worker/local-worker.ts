import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Outcome } from "../../core/model/outcome.js";
import { LOCAL_WORKER_PREFIX } from "../../core/model/worker-names.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import type { Action, Attempt, StopCause } from "../action/action.js";
import { emptyLogsMade, type LogFile } from "../action/log-file.js";
import { endProcessesWithToken } from "../process/attempt-processes.js";
import { shortageBehind } from "../process/machine-shortage.js";
import { withinOpenFiles } from "../process/open-file-limit.js";
import { type EndedRun, RunLeftovers } from "../process/run-leftovers.js";
import type { Assignment, Ended, Needs, Seat, Worker } from "../worker.js";
import { attemptEnvironment, inheritedEnvironment, once } from "./attempt-environment.js";
import {
  type ActionEnd,
  judged,
  notKept,
  notWritten,
  thrownFacts,
  wasGivenUp,
  withShortTexts,
  workspaceFacts,
} from "./attempt-facts.js";
import { BASH, hasWanted, lackOf } from "./attempt-lacks.js";
import { AttemptLogs, EarlierLogs, Redactors } from "./attempt-logs.js";
import { outputOfFailure, resultOfOutput, tooDeep } from "./attempt-output.js";
import {
  logFile,
  logFolder,
  outputArtifact,
  outputFolder,
  usageArtifact,
  workFolder,
} from "./attempt-paths.js";
import { AttemptTimers } from "./attempt-timers.js";
import { AttemptWorkspace } from "./attempt-workspace.js";
import { DeclaredData, removeIfThere, writeUsage } from "./declared-data.js";
import { writeFailureSummary } from "./failure-summary-file.js";
import { actionsByType, type LocalWorkerOptions, type OutputPiece } from "./local-worker-options.js";
import { KernelKills } from "./machine/control-group.js";
import { readMachine } from "./machine/machine.js";
import { UsageSampler } from "./machine/usage-sampler.js";
import { tellAttempt } from "./prompt-files.js";
import { ResourceLimits } from "./resource-limits.js";
import { type Extent, LocalRoom } from "./room.js";
import { ScratchFolder } from "./scratch-folder.js";
import { lackedAtStart, Shortages } from "./shortages.js";

/** Executes attempts in this process: logs, timers and redaction around an action. */
export class LocalWorker implements Worker {
  readonly name = `${LOCAL_WORKER_PREFIX}${process.pid}`;
  readonly doesNothingAs = this.name;
  private readonly room: LocalRoom;
  private readonly actions: ReadonlyMap<string, Action>;
  private readonly env: { readonly [name: string]: string | undefined };
  private readonly inherited: { readonly [name: string]: string };
  private readonly redactors: Redactors;
  private readonly scratch = new ScratchFolder();
  private outputListener: ((piece: OutputPiece) => void) | null = null;
  private readonly shortages: Shortages;
  private readonly kills = new KernelKills();
  private readonly earlierLogs: EarlierLogs;
  private readonly leftovers: RunLeftovers;

  constructor(private readonly options: LocalWorkerOptions) {
    const { clock, outputDir, tell = () => {} } = options;
    this.shortages = new Shortages({ clock, folder: logFolder(outputDir), tell });
    const slots = withinOpenFiles(options.maxParallel ?? availableParallelism());
    const extent = (): Extent => options.machine ?? readMachine(this.env);
    const hasBash = (): boolean => this.hasWanted(BASH);
    this.room = new LocalRoom(this.name, slots, { extent, hasBash, elapsed: () => clock.elapsed() });
    this.earlierLogs = new EarlierLogs(outputDir);
    this.leftovers = new RunLeftovers(outputFolder(outputDir));
    this.actions = actionsByType(options.actions);
    this.env = { ...(options.env ?? process.env) };
    this.inherited = inheritedEnvironment(this.env);
    this.redactors = new Redactors(this.env);
    mkdirSync(logFolder(outputDir), { recursive: true, mode: 0o700 });
  }

  get slots(): number {
    return this.room.slots;
  }
  get used(): number {
    return this.room.used;
  }

  get tags(): readonly string[] {
    return this.options.tags ?? [];
  }

  get extent(): Extent {
    return this.room.extent;
  }

  /** Tags are checked when the attempt begins: a lone worker that lacks one must report it, not wait forever. */
  place(needs: Needs): Seat | "full" | null {
    return this.hasAction(needs.actionType) ? this.room.place(needs) : null;
  }

  /** Whether the action exists here. Without it, an attempt stays ready until another worker has it. */
  hasAction(type: string): boolean {
    return this.actions.has(type);
  }

  hasWanted(wanted: string): boolean {
    return hasWanted(wanted, this.env);
  }

  keepRoomFor(needs: Needs | null): boolean {
    return this.room.keepFor(needs !== null && this.hasAction(needs.actionType) ? needs : null);
  }

  release(place: Seat): void {
    this.room.release(place);
  }

  execute(assignment: Assignment, place: Seat | null, signal: AbortSignal, ended: Ended): void {
    void this.run(assignment, place, signal).then((outcome) => ended(outcome));
  }

  /** Resolves once and never rejects. */
  async run(given: Assignment, place: Seat | null, signal: AbortSignal): Promise<Outcome> {
    const assignment = place?.gpus === undefined ? given : { ...given, gpus: place.gpus };
    const { clock, stops } = this.options;
    const startedAt = clock.elapsed();
    const said = await this.attempt(assignment, signal).catch((error: unknown) =>
      notKept(error, this.redactorFor(assignment)),
    );
    const outcome = { ...said, duration_ms: Math.max(0, Math.round(clock.elapsed() - startedAt)) };
    // Lets others use its room while it is determined how it ended.
    const giveRoom = (): void => (place === null ? undefined : this.room.giveEarly(place));
    return stops === undefined ? outcome : stops.judge(outcome, { assignment, signal, giveRoom });
  }

  /** What ran in a process that is gone has ended with it. */
  adopt(): boolean {
    return false;
  }

  onRoom(listener: () => void): () => void {
    return this.room.onEarly(listener);
  }

  /** Sets the listener for the attempts' output as it is printed. */
  onOutput(listener: (piece: OutputPiece) => void): void {
    this.outputListener = listener;
  }

  async endLeftovers(token: string): Promise<void> {
    if (token !== "") await endProcessesWithToken(token);
  }

  readonly endRun = (run: EndedRun): void => this.leftovers.end(run, this.actions);

  async close(): Promise<void> {
    await this.leftovers.settled();
    await emptyLogsMade();
    await this.scratch.close();
  }

  /** The redactor for a workflow's secrets, with their values from this worker's environment. */
  redactorFor({ secrets, hidden = [] }: Pick<Assignment, "secrets" | "hidden">): Redactor {
    return this.redactors.for([...secrets, ...hidden]);
  }

  private async attempt(assignment: Assignment, signal: AbortSignal): Promise<Outcome> {
    const ran = await this.runStarted(assignment, signal);
    if (ran === null) return { kind: "stopped" };
    const outcome = await this.judge(assignment, ran, signal).finally(() => ran.declared.clear());
    const [used, exitedAt] = [ran.used, ran.result.exitedAt];
    return { ...outcome, ...(used && { used }), ...(exitedAt === undefined ? {} : { exitedAt }) };
  }

  private async judge(assignment: Assignment, ran: ActionEnd, signal: AbortSignal): Promise<Outcome> {
    const { result, workspace, declared, tails, exceeded, logError } = ran;
    if (result.kind === "stopped" || wasGivenUp(result, signal)) return { kind: "stopped" };
    if (result.kind === "suspended") return result;
    const failed = (facts: FailureFacts): Promise<Outcome> =>
      this.failed(assignment, { workspace, given: result.output }, facts, signal);
    if (logError !== null) return failed(notWritten("the log", logError));
    if (result.usage !== undefined)
      writeUsage(usageArtifact(this.options.outputDir, assignment), result.usage);
    if (exceeded !== null) return failed({ ...tails, ...exceeded });
    if (result.kind === "failed") return failed({ ...tails, ...result.facts });
    const deep = tooDeep(result.output);
    if (deep !== null) return failed({ ...tails, ...deep });
    let checked: Outcome;
    try {
      const output = this.redactorFor(assignment).redactJson(result.output);
      const checks = {
        schema: assignment.outputSchema,
        maxItems: assignment.maxItems ?? null,
        artifact: outputArtifact(this.options.outputDir, assignment),
      };
      const check = (): Outcome => resultOfOutput(output, checks);
      checked = await this.shortages.untilItWorks(`the output of ${assignment.stepId}`, check, signal);
    } catch (error) {
      return failed({ ...tails, ...notWritten("the output", error) });
    }
    if (checked.kind === "failed") return failed({ ...tails, ...checked.facts });
    if (checked.kind === "succeeded") {
      const read = () => declared.after(signal);
      const kept = await this.shortages.untilItWorks(`what ${assignment.stepId} made`, read, signal);
      if ("missing" in kept) return failed({ ...tails, ...kept.missing });
      const { usage, below } = result;
      const told = { ...(usage === undefined ? {} : { usage }), ...(below === undefined ? {} : { below }) };
      checked = { ...checked, ...told, ...kept.made };
    }
    if (workspace === null) return checked;
    try {
      // Made before the success is reported, so that everything on record can be restored.
      const { stepId, attempt: attempts } = assignment;
      const redactor = this.redactorFor(assignment);
      const at = this.options.clock.now();
      const shown = (name: string): string => redactor.redact(name);
      const keep = () => workspace.checkpoint({ stepId, attempts, at, shown });
      const checkpoint = await this.shortages.untilItWorks(`the checkpoint of ${stepId}`, keep, signal);
      const { patch } = workspace.mayFailYet ? await workspace.changes(assignment) : {};
      return { ...checked, checkpoint, ...(patch === undefined ? {} : { patch }) } as Outcome;
    } catch (error) {
      return failed({ ...tails, ...workspaceFacts(error) });
    }
  }

  /** Runs once the machine has what a start needs. Logs are closed while it waits. Null if nobody wants it any more. */
  private async runStarted(assignment: Assignment, signal: AbortSignal): Promise<ActionEnd | null> {
    for (let tries = 0; ; tries += 1) {
      if (this.shortages.isDiskFull) await this.shortages.untilRoom(signal);
      let lacked: string | null;
      try {
        const ran = await this.runLogged(assignment, signal);
        lacked = lackedAtStart(ran.result);
        if (lacked === null) return ran;
        ran.declared.clear();
      } catch (error) {
        // An action's own errors are part of its result, so this one came before it began.
        if (shortageBehind(error) === null) throw error;
        lacked = this.redactorFor(assignment).redact(messageOf(error));
      }
      await this.shortages.waitToStart(assignment.stepId, lacked, tries, signal);
      if (signal.aborted) return null;
    }
  }

  /** Runs the action with its log files and timers. */
  private async runLogged(assignment: Assignment, signal: AbortSignal): Promise<ActionEnd> {
    const { clock, workspaces = null, outputDir } = this.options;
    const redactor = this.redactorFor(assignment);
    const controller = new AbortController();
    const stop = (cause: StopCause): void => controller.abort(cause);
    const onAbort = (): void => stop("stopped");
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    let workspace: AttemptWorkspace | null = null;
    let result: Outcome<Json> | null = null;
    try {
      if (assignment.workspace !== undefined)
        workspace = await AttemptWorkspace.find(workspaces, assignment, assignment.workspace);
    } catch (error) {
      if (shortageBehind(error) !== null) throw error;
      result = { kind: "failed", facts: workspaceFacts(error) };
    }
    const own = { base: outputDir, workspace, redactor, scratch: () => this.scratchOf(assignment) };
    const declared = new DeclaredData(assignment, own);
    const logs = new AttemptLogs(assignment, {
      ...{ base: outputDir, redactor, earlier: this.earlierLogs, listener: this.outputListener },
      onShortage: (error) => this.shortages.noteUnwritten(`the log of ${assignment.stepId}`, error),
    });
    const missing = result === null ? await declared.before(controller.signal) : null;
    if (missing !== null) result = { kind: "failed", facts: missing };
    const timers = new AttemptTimers(clock, assignment, stop, workspace?.progress ?? null);
    const kills = this.actions.get(assignment.action.type)?.silent === true ? null : this.kills;
    const limits = new ResourceLimits(clock, assignment, () => stop("timeout"), kills);
    const sampler = UsageSampler.of(clock, assignment, logFile(outputDir, assignment, "usage"));
    const write = (log: LogFile) => (chunk: Uint8Array) => {
      timers.signOfLife();
      log.write(chunk);
    };
    try {
      const writes = { stdout: write(logs.stdout), stderr: write(logs.stderr) };
      result ??= await this.act(declared.equipped, workspace, controller.signal, writes);
    } catch (error) {
      result = { kind: "failed", facts: thrownFacts(error) };
    }
    timers.clear();
    limits.clear();
    sampler?.clear();
    signal.removeEventListener("abort", onAbort);
    const logError = await logs.close(signal);
    const [exceeded, used] = [limits.judge(result), limits.used(result)];
    return { result, workspace, declared, tails: logs.tails, exceeded, used, logError };
  }

  /** Reports the failure without secrets, and writes a summary beside the logs. */
  private async failed(
    assignment: Assignment,
    { workspace, given }: { readonly workspace: AttemptWorkspace | null; readonly given: Json | undefined },
    observed: FailureFacts,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const redactor = this.redactorFor(assignment);
    const explained = (await workspace?.explained(observed, assignment)) ?? observed;
    const facts = { ...explained, ...(await workspace?.changes(assignment)) };
    // Cut after redaction, because half a secret would not be recognised.
    const shown = withShortTexts(redactor.redactJson(facts as never, "ownRecord") as unknown as FailureFacts);
    if (assignment.recovery) return { kind: "failed", facts: shown };
    const outcome = { kind: "failed", facts: shown, ...outputOfFailure(given, redactor) } as const;
    // A summary is optional: without it, the failure is the same.
    await writeFailureSummary({
      base: this.options.outputDir,
      assignment: { ...assignment, cwd: this.folderOf(assignment, workspace) },
      failure: judged(outcome, assignment, this.options.clock.now()),
      redactor,
      command: this.actions.get("command") ?? null,
      env: { ...this.inheritedIn(workspace), ...assignment.env },
      signal,
    }).catch(() => {});
    return outcome;
  }

  private folderOf(assignment: Assignment, workspace: AttemptWorkspace | null): string {
    return workspace?.folder(assignment.cwd) ?? workFolder(this.options.outputDir, assignment);
  }

  private inheritedIn(workspace: AttemptWorkspace | null): { readonly [name: string]: string } {
    return workspace?.environment(this.inherited) ?? this.inherited;
  }

  private async act(
    assignment: Assignment,
    workspace: AttemptWorkspace | null,
    signal: AbortSignal,
    write: { stdout: (chunk: Uint8Array) => void; stderr: (chunk: Uint8Array) => void },
  ): Promise<Outcome<Json>> {
    if (assignment.failedAlready !== null) return { kind: "failed", facts: assignment.failedAlready };
    const lack = lackOf(assignment, {
      env: this.env,
      tags: this.tags,
      nodes: this.options.machine?.nodes ?? 1,
      extent: () => this.extent,
    });
    if (lack !== null) return { kind: "failed", facts: lack };
    const action = this.actions.get(assignment.action.type)!;
    let scratch: string;
    let cwd: string;
    let told: ReturnType<typeof tellAttempt>;
    try {
      scratch = this.scratchOf(assignment);
      cwd = this.folderOf(assignment, workspace);
      told = tellAttempt(this.options.outputDir, assignment, this.redactorFor(assignment));
    } catch (error) {
      return { kind: "failed", facts: notWritten("what the attempt needs", error) };
    }
    const files = { ...told.files, output: `${scratch}.output`, failure: `${scratch}.failure` };
    const { apiUrl = "", outputDir: base } = this.options;
    const place = { cwd, base, apiUrl: typeof apiUrl === "string" ? apiUrl : apiUrl() };
    // Made only when needed, because a function has no process.
    const env = once(() => attemptEnvironment(this.inheritedIn(workspace), assignment, files, place));
    const attempt: Attempt = {
      ...assignment,
      cwd,
      ...(told.prompt === null ? {} : { prompt: told.prompt }),
      variables: told.variables,
      get env() {
        return env();
      },
      writeStdout: write.stdout,
      writeStderr: write.stderr,
      hideSecrets: (bytes) => this.redactorFor(assignment).redactBytes(bytes),
      outputFile: files.output,
      failureFile: files.failure,
      signal,
    };
    try {
      return await action.run(attempt);
    } finally {
      if (action.silent !== true) for (const file of [files.output, files.failure]) removeIfThere(file);
    }
  }

  /** A private folder, outside of the output folder, for raw step outputs until they are redacted. */
  private scratchOf({ jobId, attempt }: Assignment): string {
    return join(this.scratch.open(), `j${jobId}_a${attempt}`);
  }
}
