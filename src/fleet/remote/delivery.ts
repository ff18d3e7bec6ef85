import { existsSync, readFileSync } from "node:fs";
import {
  MAX_LOG_CHUNK_BYTES,
  MAX_REPORTED_LOG_BYTES,
  type ReportAnswer,
  type SentOutcome,
} from "../desk/protocol.js";
import type { Session } from "./connection.js";
import type { RemoteAttempt } from "./remote-attempt.js";

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
export async function prepareReport(session: Session, attempt: RemoteAttempt): Promise<SentOutcome> {
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
export function goBackTo({ have, output_missing }: ReportAnswer, attempt: RemoteAttempt): void {
  for (const log of attempt.logs) if (have !== undefined) log.sent = Math.min(log.sent, have[log.stream]);
  if (output_missing === true) attempt.isOutputSent = false;
}
