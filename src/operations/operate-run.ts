import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OperatorCommand } from "../core/commands.js";
import { DarumaError } from "../core/errors.js";
import { type Refusal, refusalOf } from "../core/operator.js";
import type { Run } from "../core/run.js";
import { systemClock } from "../engine/clock.js";
import { INBOX_POLL_MS } from "../engine/inbox.js";
import { LeaseKeeper } from "../engine/lease-keeper.js";
import { loadRun } from "../engine/load-run.js";
import { heldAttempts, mayGoOn } from "../engine/occupancy.js";
import { RunHost } from "../engine/run-host.js";
import type { LeaseOwner, Store } from "../store/store.js";
import { requireRun } from "./run-reference.js";

export interface OperateRequest {
  readonly runId: number;
  readonly command: OperatorCommand;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  readonly endLeftovers: (token: string) => Promise<void>;
}

type KeyedRequest = OperateRequest & { readonly command: { readonly key: string } };

/** How long the owner of a run has to take a command. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Put an operator's command to a run: by this process if nobody runs it, else through the inbox of whoever does. */
export async function operateRun(store: Store, asked: OperateRequest): Promise<void> {
  const { runId, command } = asked;
  await requireRun(store, runId);
  const deadline = systemClock.now() + ANSWER_TIMEOUT_MS;
  // The owner may let go of the run, or die, before it has taken the command; the key keeps it from being taken twice.
  const request = { ...asked, command: { ...command, key: command.key ?? randomUUID() } };
  let sent: number | null = null;
  while (systemClock.now() < deadline) {
    if (await operateAsOwner(store, request, sent)) return;
    sent = await sendToOwner(store, request, deadline);
    if (sent === null) return;
  }
  throw new DarumaError(
    "RUN_OWNED",
    `the process that runs ${runId} has not answered in ${ANSWER_TIMEOUT_MS / 1000} s`,
    { hint: "It takes the command as soon as it can; see `daruma show`." },
  );
}

/** False: somebody else runs it. `sent` is an entry in its inbox that must not be taken up later. */
async function operateAsOwner(store: Store, request: OperateRequest, sent: number | null): Promise<boolean> {
  const { runId } = request;
  const leases = new LeaseKeeper(store, systemClock, request.owner, request.isDead);
  let fence: number;
  try {
    fence = await leases.acquire(runId, () => {});
  } catch (error) {
    if (error instanceof DarumaError && error.code === "RUN_OWNED") return false;
    throw error;
  }
  try {
    const refusal = await operateOrphan(store, request, fence);
    if (sent !== null) await store.answerCommand(sent, JSON.stringify({ refusal }));
    throwIfRefused(refusal);
    return true;
  } finally {
    await leases.release(runId);
    leases.stop();
  }
}

/** Nobody runs it: decide and write here. A cancel also ends what may be left of its attempts and child runs. */
async function operateOrphan(store: Store, request: OperateRequest, fence: number): Promise<Refusal | null> {
  const { runId, command } = request;
  const { run, nextSeq } = await loadRun(store, runId);
  const refusal = refusalOf(run, command);
  if (refusal !== null) return refusal;
  // First, so that a cancel that cannot reach a child can be asked for again.
  if (command.type === "run.cancel") await cancelChildren(store, request, run);
  const host = new RunHost(run, fence, nextSeq);
  const now = systemClock.now();
  const held = command.type === "run.cancel" ? heldAttempts(run) : [];
  for (const { token } of held) await request.endLeftovers(token);
  host.take(command, now);
  // What runs on another machine is ended by the server that takes the run next.
  const kept = held.filter(mayGoOn).map(({ jobId }) => jobId);
  if (command.type === "run.cancel") host.take({ type: "run.resume", kept }, now);
  if (host.hasPending) await store.commit([host.drain().append]);
  return null;
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
  const command = { type: "run.cancel", reason: `run ${request.runId} was canceled`, key: null } as const;
  try {
    await operateRun(store, { ...request, runId, command });
  } catch (error) {
    // It ended by itself meanwhile.
    if (!(error instanceof DarumaError && error.code === "RUN_OVER")) throw error;
  }
}

/** Null: the owner has taken it. Else the entry that nobody has answered, because the owner is gone or too slow. */
async function sendToOwner(store: Store, request: KeyedRequest, deadline: number): Promise<number | null> {
  const { runId, command } = request;
  const id = await store.sendCommand({
    runId,
    key: command.key,
    command: JSON.stringify(command),
    at: systemClock.now(),
  });
  let wake = (): void => {};
  const forget = store.onChange(({ kind }) => kind === "answer" && wake());
  try {
    return await untilAnswered(store, request, { id, deadline, woken: (call) => (wake = call) });
  } finally {
    forget();
  }
}

async function untilAnswered(
  store: Store,
  { runId, isDead }: KeyedRequest,
  sent: {
    readonly id: number;
    readonly deadline: number;
    /** Calls when an answer may be there. */
    readonly woken: (call: () => void) => void;
  },
): Promise<number | null> {
  const { id, deadline } = sent;
  while (systemClock.now() < deadline) {
    const answered = new Promise<void>(sent.woken);
    const lease = await store.readLease(runId);
    const answer = await store.readAnswer(id);
    if (answer !== null) {
      throwIfRefused((JSON.parse(answer) as { refusal: Refusal | null }).refusal);
      return null;
    }
    if (lease === null || isDead(lease.owner)) return id;
    await Promise.race([answered, delay(INBOX_POLL_MS / 2)]);
  }
  return id;
}

export function throwIfRefused(refusal: Refusal | null): void {
  if (refusal !== null) throw new DarumaError(refusal.code, refusal.message);
}
