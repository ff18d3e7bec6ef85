import { existsSync, readFileSync } from "node:fs";
import {
  type ClaimAnswer,
  MAX_LOG_CHUNK_BYTES,
  MAX_REPORTED_LOG_BYTES,
  MAX_REPORTS,
  type ReportAnswer,
  type SentOutcome,
} from "../desk/protocol.js";
import { type Connection, rootMessageOf, type Session } from "./connection.js";
import type { RemoteAttempt } from "./remote-attempt.js";
import { ServerRefusal } from "./server-client.js";
import { type Moment, pause, thisMoment } from "./worker-clock.js";

interface DeliveryPorts {
  readonly attempts: () => Iterable<RemoteAttempt>;
  readonly connection: Connection;
  /** Called when the server has accepted it, or refused it for good. */
  readonly settled: (answer: ReportAnswer) => void;
  /** Called with the work in the answer to reports that were sent at `sentAt`. */
  readonly given: (session: Session, answer: ClaimAnswer, sentAt: Moment) => void;
  /** Called when a request for this attempt failed. */
  readonly failed: (session: Session, attempt: RemoteAttempt, error: unknown) => void;
  readonly over: AbortSignal;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/** Reports in progress at once, so that one that waits for a slow commit does not delay others. */
const MAX_DELIVERIES = 4;

/** Sends the results of ended attempts until the server has them on record or does not want them. */
export class Deliveries {
  private underWay = 0;

  constructor(private readonly ports: DeliveryPorts) {}

  /** Sends what has ended, as much at a time as possible. */
  wake(): void {
    if (this.underWay >= MAX_DELIVERIES || this.ports.over.aborted) return;
    const batch: RemoteAttempt[] = [];
    for (const attempt of this.ports.attempts()) {
      if (attempt.outcome === null || attempt.isReporting) continue;
      attempt.isReporting = true;
      if (batch.push(attempt) === MAX_REPORTS) break;
    }
    if (batch.length === 0) return;
    this.underWay += 1;
    void this.deliver(batch).finally(() => {
      this.underWay -= 1;
      this.wake();
    });
  }

  private async deliver(batch: readonly RemoteAttempt[]): Promise<void> {
    const session = await this.ports.connection.get().catch(() => null);
    if (session === null) return this.offerAgain(batch);
    const prepared = await Promise.all(
      batch.map(async (attempt) => {
        try {
          return { attempt, report: await prepareReport(session, attempt) };
        } catch (error) {
          this.ports.failed(session, attempt, error);
          this.offerAgain([attempt]);
          return null;
        }
      }),
    );
    await this.send(
      session,
      prepared.filter((one) => one !== null),
    );
  }

  private async send(
    session: Session,
    prepared: readonly {
      readonly attempt: RemoteAttempt;
      readonly report: Awaited<ReturnType<typeof prepareReport>>;
    }[],
  ): Promise<void> {
    if (prepared.length === 0) return;
    const attempts = new Map(prepared.map(({ attempt }) => [attempt.token, attempt]));
    try {
      const reports = prepared.map(({ report }) => report);
      const sentAt = thisMoment();
      const answer = await session.client.report(
        session.worker_id,
        { reports, session: session.session },
        session.lease_ms,
      );
      // Ended attempts come first, because their slots are then free for new ones.
      for (const result of answer.results) {
        const attempt = attempts.get(result.token);
        if (attempt !== undefined) this.answered(attempt, result);
      }
      this.ports.given(session, answer, sentAt);
    } catch (error) {
      if (!isAboutContent(error)) {
        this.ports.connection.failed(session, error);
        return this.offerAgain([...attempts.values()]);
      }
      // One unreadable report must not keep the others in its message from being accepted.
      if (prepared.length > 1) for (const one of prepared) await this.send(session, [one]);
      else this.replaceUnreadable(prepared[0]!.attempt, error);
    }
  }

  private answered(attempt: RemoteAttempt, answer: ReportAnswer): void {
    if (answer.outcome !== "retry") return this.ports.settled(answer);
    goBackTo(answer, attempt);
    this.offerAgain([attempt]);
  }

  /** Replaces a result that the server will never accept, because the attempt must end somehow. */
  private replaceUnreadable(attempt: RemoteAttempt, error: unknown): void {
    const message = `the server refused the result: ${rootMessageOf(error)}`;
    attempt.outcome = { kind: "failed", facts: { code: "OUTPUT_INVALID", message } };
    this.offerAgain([attempt]);
  }

  private offerAgain(attempts: readonly RemoteAttempt[]): void {
    for (const attempt of attempts) {
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** attempt.tries, MAX_RETRY_MS);
      attempt.tries += 1;
      void pause(delayMs, this.ports.over).then(() => {
        attempt.isReporting = false;
        this.wake();
      });
    }
  }
}

function isAboutContent(error: unknown): boolean {
  return error instanceof ServerRefusal && [400, 413, 422].includes(error.status);
}

/**
 * Sends what logs have grown by since the last time. If the attempt has ended, the last part is left for the report.
 */
export async function sendLogs({ client, worker_id }: Session, attempt: RemoteAttempt): Promise<void> {
  const { token } = attempt;
  const rest = attempt.outcome === null ? 0 : MAX_REPORTED_LOG_BYTES;
  for (const log of attempt.logs) {
    while (log.size - log.sent > rest) {
      const bytes = log.next(MAX_LOG_CHUNK_BYTES);
      const { size } = await client.sendLog(
        worker_id,
        { token, stream: log.stream, offset: log.sent },
        bytes,
      );
      // A server that took over may have less than the previous one.
      log.sent = Math.min(size, log.sent + bytes.length);
    }
  }
}

/** Sends everything that the server must have before the result, and returns the report. */
async function prepareReport(session: Session, attempt: RemoteAttempt): Promise<SentOutcome> {
  await sendLogs(session, attempt);
  const said = attempt.outcome!;
  // Programs of flows run in the process of their engine.
  const outcome = said.kind === "suspended" ? ({ kind: "stopped" } as const) : said;
  const isFile = outcome.kind === "succeeded" && outcome.output.kind === "artifact";
  if (isFile && !attempt.isOutputSent) {
    await session.client.sendOutput(session.worker_id, attempt.token, readFileSync(attempt.outputFile));
    attempt.isOutputSent = true;
  }
  return {
    ...attempt.held,
    outcome,
    logs: attempt.logs.flatMap((log) =>
      log.exists
        ? [
            {
              stream: log.stream,
              offset: log.sent,
              data: log.next(MAX_REPORTED_LOG_BYTES).toString("base64"),
            },
          ]
        : [],
    ),
    summary:
      outcome.kind === "failed" && existsSync(attempt.summaryFile)
        ? readFileSync(attempt.summaryFile, "utf8")
        : null,
  };
}

/** Goes back to what the server has, which may be less than an earlier one had. */
function goBackTo({ have, output_missing }: ReportAnswer, attempt: RemoteAttempt): void {
  for (const log of attempt.logs) if (have !== undefined) log.sent = Math.min(log.sent, have[log.stream]);
  if (output_missing === true) attempt.isOutputSent = false;
}
