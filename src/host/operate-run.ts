import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { refusalOf, refusedWhereNobodyRuns } from "../core/decide/operator.js";
import { type CommandOutcome, type TakenCommand, takeCommand } from "../core/decide/take-command.js";
import { DarumaError } from "../core/errors/errors.js";
import type { OperatorCommand } from "../core/model/commands.js";
import type { NotifyRule } from "../core/model/definition.js";
import type { Run } from "../core/model/run.js";
import { outcomeOf } from "../operations/command-outcome.js";
import { systemClock } from "../run/engine/clock.js";
import type { Engine } from "../run/engine/engine.js";
import { INBOX_POLL_MS } from "../run/engine/inbox.js";
import { LeaseKeeper } from "../run/engine/lease-keeper.js";
import { loadRun, readRecalledLog } from "../run/engine/load-run.js";
import { heldAttempts, mayGoOn } from "../run/engine/occupancy.js";
import { RunHost } from "../run/engine/run-host.js";
import type { BesideCommit } from "../run/engine/run-listeners.js";
import type { Worker } from "../run/worker.js";
import { currentOwner, isDead } from "../store/lease-owner.js";
import type { LeaseOwner, Store } from "../store/store.js";
import { programGoesOn } from "../tell/lookup/run-program.js";
import { requireRun } from "../tell/lookup/run-reference.js";

export interface OperateRequest {
  readonly runId: number;
  readonly command: OperatorCommand;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  /** Notification rules of the settings. */
  readonly notify?: readonly NotifyRule[];
  readonly endLeftovers: (token: string) => Promise<void>;
  /** Called with what was committed here. */
  readonly onCommitted?: (commit: BesideCommit) => void;
}

/** Gives an operator's command to a run, whichever process runs it. */
export type Operate = (runId: number, command: OperatorCommand) => Promise<CommandOutcome>;

interface OperatingParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly worker: Worker;
  readonly notify: readonly NotifyRule[];
}

/** Gives a command to a run of this engine, or to another process that has it. */
export async function operateAnywhere(
  { store, engine, worker, notify }: OperatingParts,
  runId: number,
  command: OperatorCommand,
): Promise<CommandOutcome> {
  // Another server may have taken the run, and this engine learns of it only now.
  const taken = await engine.operate(runId, command).catch(notOwnedIfLost);
  if (taken !== "not_owned") return outcomeOf(store, { runId, command }, taken);
  return operateRun(store, {
    runId,
    command,
    owner: currentOwner(randomUUID()),
    isDead,
    notify,
    endLeftovers: (token) => worker.endLeftovers(token),
    onCommitted: (commit) => engine.listeners.tellBeside(commit),
  });
}

function notOwnedIfLost(error: unknown): "not_owned" {
  if (error instanceof DarumaError && error.code === "LEASE_LOST") return "not_owned";
  throw error;
}

/** One call. It leaves at most one entry in the inbox of the run's owner. */
type Call = OperateRequest & { readonly id: string };

/** How long the owner of a run has to take a command. */
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Gives an operator's command to a run: through this process if nobody runs it, else through the owner's inbox. Throws
 * a refusal with its code. A key that was used before gives the earlier answer.
 */
export async function operateRun(store: Store, asked: OperateRequest): Promise<CommandOutcome> {
  const { runId } = asked;
  await requireRun(store, runId);
  const deadline = systemClock.elapsed() + ANSWER_TIMEOUT_MS;
  const id = randomUUID();
  // The owner may let go of the run, or die, before it has taken the command; the key keeps it from being taken twice.
  const call: Call = { ...asked, id, command: { ...asked.command, key: asked.command.key ?? id } };
  let sent: number | null = null;
  while (systemClock.elapsed() < deadline) {
    const taken: TakenCommand | number =
      (await operateAsOwner(store, call, sent)) ?? (await sendToOwner(store, call, deadline));
    if (typeof taken !== "number") return outcomeOf(store, call, taken);
    sent = taken;
  }
  throw new DarumaError(
    "RUN_OWNED",
    `the process that runs ${runId} has not answered in ${ANSWER_TIMEOUT_MS / 1000} s`,
    {
      hint: {
        typed: "It will take the command as soon as it can; see `daruma show`.",
        asked: "It will take the command as soon as it can; repeat the request with the same key.",
      },
    },
  );
}

/** Null if somebody else runs it. `sent` is an entry in its inbox that must not be executed later. */
async function operateAsOwner(
  store: Store,
  request: OperateRequest,
  sent: number | null,
): Promise<TakenCommand | null> {
  const { runId } = request;
  const leases = new LeaseKeeper(store, systemClock, { ...request.owner, decides: true }, request.isDead);
  let fence: number;
  try {
    fence = await leases.acquire(runId, () => {});
  } catch (error) {
    if (error instanceof DarumaError && error.code === "RUN_OWNED") return null;
    throw error;
  }
  try {
    const taken = await operateOrphan(store, request, fence);
    if (sent !== null) await store.answerCommand(sent, JSON.stringify(taken));
    return taken;
  } finally {
    await leases.release(runId);
    leases.stop();
  }
}

/** Nobody runs it: decide and write here. A cancel also ends what may be left of its attempts and child runs. */
async function operateOrphan(store: Store, request: OperateRequest, fence: number): Promise<TakenCommand> {
  const { runId, command } = request;
  const { run, nextSeq } = await loadRun(store, runId);
  const log = request.onCommitted === undefined ? [] : await readRecalledLog(store, run);
  const isTakenBefore = command.key !== null && run.operatorKeys.has(command.key);
  // What undoes and finishes a run goes on.
  const endsRun = command.type === "run.cancel" && (run.ending === null || command.now === true);
  const isCancel = endsRun && !isTakenBefore && refusalOf(run, command) === null;
  // First, so that a cancel that cannot reach a child can be asked for again.
  if (isCancel) await cancelChildren(store, request, run);
  const host = new RunHost(run, fence, nextSeq, 0, request.notify);
  const now = systemClock.now();
  const held = isCancel ? heldAttempts(run) : [];
  for (const { token } of held) await request.endLeftovers(token);
  const { refusal, outcome } = takeCommand(run, command, () => host.takeForLater(command, now));
  const taken = { refusal: refusal && refusedWhereNobodyRuns(runId, refusal, programGoesOn(run)), outcome };
  // What runs on another machine is ended by the server that takes the run next.
  const kept = held.filter(mayGoOn).map(({ jobId }) => jobId);
  if (isCancel) host.takeForLater({ type: "run.resume", kept }, now);
  if (!host.hasPending) return taken;
  const { append, events } = host.drain();
  await store.commit([append]);
  request.onCommitted?.({ run, log, events });
  return taken;
}

/** A step that was interrupted in good order is ready again, and its child run still unfinished. */
async function cancelChildren(store: Store, request: OperateRequest, run: Run): Promise<void> {
  for (const job of [...run.running, ...run.ready]) {
    if (job.step.definition.action.type !== "workflow") continue;
    const children = await store.listRuns({ parentJob: job.id });
    for (const child of children) if (child.finished_at === null) await cancelChild(store, request, child.id);
  }
}

async function cancelChild(store: Store, request: OperateRequest, runId: number): Promise<void> {
  const now = request.command.type === "run.cancel" && request.command.now === true;
  const reason = `run ${request.runId} was canceled`;
  const command = { type: "run.cancel", reason, key: null, now } as const;
  try {
    await operateRun(store, { ...request, runId, command });
  } catch (error) {
    // It ended by itself meanwhile.
    if (!(error instanceof DarumaError && error.code === "RUN_OVER")) throw error;
  }
}

/** The owner's answer; else the entry that nobody has answered, because the owner is gone or too slow. */
async function sendToOwner(store: Store, call: Call, deadline: number): Promise<TakenCommand | number> {
  const id = await store.sendCommand({
    runId: call.runId,
    key: call.id,
    command: JSON.stringify(call.command),
    at: systemClock.now(),
  });
  let wake = (): void => {};
  const forget = store.onChange(({ kind }) => kind === "answer" && wake());
  try {
    return await untilAnswered(store, call, { id, deadline, woken: (heard) => (wake = heard) });
  } finally {
    forget();
  }
}

async function untilAnswered(
  store: Store,
  { runId, isDead }: Call,
  sent: {
    readonly id: number;
    readonly deadline: number;
    /** Calls when an answer may be there. */
    readonly woken: (heard: () => void) => void;
  },
): Promise<TakenCommand | number> {
  const { id, deadline } = sent;
  while (systemClock.elapsed() < deadline) {
    const answered = new Promise<void>(sent.woken);
    const lease = await store.readLease(runId);
    const answer = await store.readAnswer(id);
    if (answer !== null) return JSON.parse(answer) as TakenCommand;
    if (lease === null || isDead(lease.owner)) return id;
    await Promise.race([answered, delay(INBOX_POLL_MS / 2)]);
  }
  return id;
}
