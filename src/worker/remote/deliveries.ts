import { type ClaimAnswer, MAX_REPORTS, type ReportAnswer } from "../pool/protocol.js";
import { type Connection, rootMessageOf, type Session } from "./connection.js";
import { goBackTo, prepareReport } from "./delivery.js";
import { type Moment, thisMoment } from "./elapsed.js";
import { pause } from "./pause.js";
import type { RemoteAttempt } from "./remote-attempt.js";
import { ServerRefusal } from "./server-client.js";

export interface DeliveryPorts {
  readonly attempts: () => Iterable<RemoteAttempt>;
  readonly connection: Connection;
  /** The server has taken it, or refused it for good. */
  readonly settled: (answer: ReportAnswer) => void;
  /** The answer to reports that were sent then has brought something to do. */
  readonly given: (session: Session, answer: ClaimAnswer, sentAt: Moment) => void;
  /** A request for this attempt failed. */
  readonly failed: (session: Session, attempt: RemoteAttempt, error: unknown) => void;
  readonly over: AbortSignal;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/** Reports under way at once: one that waits for a slow commit must not hold up the others. */
const MAX_DELIVERIES = 4;

/** Offers the results of attempts that have ended until the server has them on record or has no use for them. */
export class Deliveries {
  private underWay = 0;

  constructor(private readonly ports: DeliveryPorts) {}

  /** Send what has ended, as much at a time as there is. */
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
      // First what is over: its slots are free for what comes.
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
      // One report that cannot be read must not keep the others of its message from being taken.
      if (prepared.length > 1) for (const one of prepared) await this.send(session, [one]);
      else this.replaceUnreadable(prepared[0]!.attempt, error);
    }
  }

  private answered(attempt: RemoteAttempt, answer: ReportAnswer): void {
    if (answer.outcome !== "retry") return this.ports.settled(answer);
    goBackTo(answer, attempt);
    this.offerAgain([attempt]);
  }

  /** The server will never take this result; the attempt must end somehow. */
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
