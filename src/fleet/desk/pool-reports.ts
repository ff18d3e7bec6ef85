import { itemsOf } from "../../core/decide/item-limit.js";
import { failedWith, type Outcome } from "../../core/model/outcome.js";
import type { AttemptRow, JobRow } from "../../core/model/rows.js";
import { JOB_IDS_PER_RUN } from "../../core/model/run.js";
import type { Json } from "../../core/text/json.js";
import { withinBounds } from "../../run/worker/attempt-facts.js";
import { outputOfFailure, storeOutput } from "../../run/worker/attempt-output.js";
import type { TimerPort } from "../../run/worker/attempt-timers.js";
import type { Fate } from "../../run/worker.js";
import { type PoolAttempt, VERDICT_MS } from "./pool-attempt.js";
import { type ReportAnswer, type SentOutcome, type Stream, stream } from "./protocol.js";
import type { ReceivedFiles } from "./received-files.js";

/** Looks up attempts that this server does not remember in the store. */
export interface RecordedAttempts {
  readAttempts(runId: number, jobId: number): Promise<readonly AttemptRow[]>;
  readJob(jobId: number): Promise<JobRow | null>;
}

/** How many outcomes are remembered for repeated reports. Older ones are looked up in the store. */
const MAX_REMEMBERED = 10_000;

/** The worker has redacted it, so this server need not know the secrets. */
const AS_SENT = { redactJson: (value: Json): Json => value };

/** Takes workers' reports: first their logs, then the result, which is answered once it is on record. */
export class PoolReports {
  private readonly remembered = new Map<string, "accepted" | "stale">();

  constructor(
    private readonly files: ReceivedFiles,
    private readonly recorded: RecordedAttempts,
    private readonly clock: Pick<TimerPort, "elapsed">,
  ) {}

  isOver(token: string): boolean {
    return this.remembered.has(token);
  }

  remember(token: string, outcome: "accepted" | "stale"): void {
    this.remembered.set(token, outcome);
    if (this.remembered.size > MAX_REMEMBERED) this.remembered.delete(this.remembered.keys().next().value!);
  }

  /** Forgets the outcome of an attempt that the engine says is running. */
  unremember(token: string): void {
    this.remembered.delete(token);
  }

  /** Takes a report. `answered` is called with the engine's answer. */
  take(
    attempt: PoolAttempt,
    sent: SentOutcome,
    answered: (answer: ReportAnswer) => void,
  ): Promise<ReportAnswer> {
    if (attempt.reporting !== null) return attempt.reporting;
    attempt.received();
    const files = this.writeFiles(attempt, sent);
    attempt.reporting = this.settle(attempt, sent, files).then((answer) => {
      attempt.reporting = null;
      if (answer.outcome !== "retry") this.remember(attempt.token, answer.outcome);
      answered(answer);
      return answer;
    });
    return attempt.reporting;
  }

  /**
   * Answers a report for which nobody waits: it was taken before, belongs to another server, or its run has not come
   * here yet.
   */
  async answerUnknown(sent: SentOutcome): Promise<ReportAnswer> {
    const { token } = sent;
    const known = this.remembered.get(token);
    const outcome = known ?? (await this.lookUp(sent).catch(() => "retry" as const));
    if (outcome === "retry") return notHere(token);
    return outcome === "stale" ? { token, outcome, code: "STALE_ATTEMPT" } : { token, outcome };
  }

  private async lookUp({ job, attempt, recovery, token }: SentOutcome): Promise<ReportAnswer["outcome"]> {
    const row = (await this.recorded.readAttempts(Math.floor(job / JOB_IDS_PER_RUN), job)).find(
      (one) => one.attempt === attempt,
    );
    if (row === undefined || !token.startsWith(row.token)) return "stale";
    if (recovery) {
      const jobRow = await this.recorded.readJob(job);
      return jobRow?.status === "recovering" && jobRow.attempt_id === attempt ? "retry" : "accepted";
    }
    if (row.status === "running") return "retry";
    return row.error?.code === "WORKER_LOST" ? "stale" : "accepted";
  }

  private async settle(
    attempt: PoolAttempt,
    { token, outcome }: SentOutcome,
    files: Promise<ReportAnswer | null> | null,
  ): Promise<ReportAnswer> {
    // A full disk may have room later.
    const lacking = files === null ? null : await files.catch(() => notHere(token));
    if (lacking !== null) return lacking;
    const seen = this.seen(outcome, attempt);
    if (seen === null || this.mustWait(attempt, seen)) return notHere(token);
    attempt.hasEnded = true;
    const { ended } = attempt;
    // Its run was released while the files were written.
    if (ended === null) return notHere(token);
    attempt.ended = null;
    return new Promise((resolve) => ended(seen, (fate) => resolve(ANSWERS[fate](token))));
  }

  /**
   * Whether to wait for the batch system's verdict on the allocation. The worker repeats the report until it leaves.
   */
  private mustWait(attempt: PoolAttempt, outcome: Outcome): boolean {
    if (outcome.kind !== "failed" || outcome.facts.evicted !== true || !attempt.awaitsVerdict) return false;
    attempt.evictedAt ??= this.clock.elapsed();
    return this.clock.elapsed() - attempt.evictedAt < VERDICT_MS;
  }

  /**
   * The outcome for the record. For an output it is what this server finds itself, whatever the worker says. Null if
   * that is not possible now.
   */
  private seen(said: SentOutcome["outcome"], { held }: PoolAttempt): Outcome | null {
    if (said.kind === "stopped") return said;
    if (said.kind === "failed") {
      const { facts, output } = said;
      const kept = output?.kind === "value" ? outputOfFailure(output.value, AS_SENT) : {};
      return { ...failedWith(withinBounds(facts), said), ...kept };
    }
    const { output } = said;
    try {
      const seen =
        output.kind === "value"
          ? { output: storeOutput(output.value, this.files.outputPath(held)), items: itemsOf(output.value) }
          : this.files.sentOutput(held)!;
      // Only a forEach step has items; the engine knows which steps those are.
      return { ...said, output: seen.output, items: said.items == null ? null : seen.items };
    } catch {
      return null;
    }
  }

  /** Writes the report's files. Null if there is nothing to wait for; resolves to null when everything is here. */
  private writeFiles(attempt: PoolAttempt, sent: SentOutcome): Promise<ReportAnswer | null> | null {
    const { outcome, summary } = sent;
    if (summary !== null) this.writeSummary(attempt, summary);
    const pieces = sent.logs.map(async ({ stream: which, offset, data }) => {
      const bytes = Buffer.from(data, "base64");
      return (await attempt.writeLog(this.files, which, offset, bytes)) >= offset;
    });
    const isFile = outcome.kind === "succeeded" && outcome.output.kind === "artifact";
    // An empty log need not be waited for.
    if (!isFile && sent.logs.every(({ offset, data }) => offset === 0 && data === "")) {
      for (const piece of pieces) piece.catch(() => {});
      return null;
    }
    return Promise.all(pieces).then((whole) => this.lacking(attempt, sent, whole.every(Boolean)));
  }

  /** Optional: without it, the failure is the same. */
  private writeSummary({ held }: PoolAttempt, text: string): void {
    try {
      this.files.writeSummary(held, text);
    } catch {}
  }

  private lacking(
    { held, token }: PoolAttempt,
    { outcome }: SentOutcome,
    isWhole: boolean,
  ): ReportAnswer | null {
    const isOutputMissing =
      outcome.kind === "succeeded" &&
      outcome.output.kind === "artifact" &&
      this.files.sentOutput(held)?.output.sha256 !== outcome.output.sha256;
    if (isWhole && !isOutputMissing) return null;
    const sizes = stream.options.map((which) => [which, this.files.logSize(held, which)]);
    return {
      ...notHere(token),
      have: Object.fromEntries(sizes) as { readonly [which in Stream]: number },
      ...(isOutputMissing ? { output_missing: true } : {}),
    };
  }
}

const ANSWERS: { readonly [fate in Fate]: (token: string) => ReportAnswer } = {
  committed: (token) => ({ token, outcome: "accepted" }),
  stale: (token) => ({ token, outcome: "stale", code: "STALE_ATTEMPT" }),
  not_owned: notHere,
};

function notHere(token: string): ReportAnswer {
  return { token, outcome: "retry", code: "RUN_NOT_HERE" };
}
