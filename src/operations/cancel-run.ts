import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { DarumaError } from "../core/errors.js";
import { isOver } from "../core/run.js";
import { systemClock } from "../engine/clock.js";
import { INBOX_POLL_MS, type OperatorCommand } from "../engine/inbox.js";
import { LeaseKeeper } from "../engine/lease-keeper.js";
import { loadRun } from "../engine/load-run.js";
import { RunHost } from "../engine/run-host.js";
import type { LeaseOwner, Store } from "../store/store.js";

export interface CancelRequest {
  readonly runId: number;
  readonly reason: string;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  readonly endLeftovers: (token: string) => Promise<void>;
}

/** How long the owner of a run has to take a command. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Cancel a run: by its own hand if nobody runs it, else through the inbox of whoever does. */
export async function requestCancel(store: Store, request: CancelRequest): Promise<void> {
  const { runId, reason } = request;
  const run = await store.readRun(runId);
  if (run === null) throw new DarumaError("RUN_NOT_FOUND", `there is no run ${runId}`);
  if (["completed", "failed", "canceled"].includes(run.status))
    throw new DarumaError("RUN_OVER", `run ${runId} is ${run.status}`);
  const command: OperatorCommand = { type: "run.cancel", reason, key: randomUUID() };
  const leases = new LeaseKeeper(store, systemClock, request.owner, request.isDead);
  let fence: number;
  try {
    fence = await leases.acquire(runId, () => {});
  } catch (error) {
    if (error instanceof DarumaError && error.code === "RUN_OWNED") return sendToOwner(store, runId, command);
    throw error;
  }
  try {
    await cancelOrphan(store, request, fence, command);
  } finally {
    await leases.release(runId);
    leases.stop();
  }
}

/** Nobody runs it: end what may be left of its attempts and write the end. */
async function cancelOrphan(
  store: Store,
  request: CancelRequest,
  fence: number,
  command: OperatorCommand,
): Promise<void> {
  const { run, nextSeq } = await loadRun(store, request.runId);
  if (isOver(run)) throw new DarumaError("RUN_OVER", `run ${request.runId} is ${run.status}`);
  for (const job of run.running) await request.endLeftovers(job.attemptToken ?? "");
  const host = new RunHost(run, fence, nextSeq);
  const now = systemClock.now();
  host.take(command, now);
  host.take({ type: "run.resume" }, now);
  await store.commit([host.drain().append]);
}

async function sendToOwner(store: Store, runId: number, command: OperatorCommand): Promise<void> {
  const id = await store.sendCommand({
    runId,
    key: command.key!,
    command: JSON.stringify(command),
    at: systemClock.now(),
  });
  const deadline = systemClock.now() + ANSWER_TIMEOUT_MS;
  while (systemClock.now() < deadline) {
    if ((await store.readAnswer(id)) !== null) return;
    const run = await store.readRun(runId);
    if (run !== null && ["completed", "failed", "canceled"].includes(run.status)) return;
    await delay(INBOX_POLL_MS / 2);
  }
  throw new DarumaError(
    "RUN_OWNED",
    `the process that runs ${runId} has not answered in ${ANSWER_TIMEOUT_MS / 1000} s`,
    { hint: "It takes the command as soon as it can; see `daruma show`." },
  );
}
