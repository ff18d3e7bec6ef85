import { itemsOf } from "../../core/decide/item-limit.js";
import { failedWith, type Outcome } from "../../core/model/outcome.js";
import type { AttemptRow, JobRow } from "../../core/model/rows.js";
import { JOB_IDS_PER_RUN } from "../../core/model/run.js";
import type { Json } from "../../core/text/json.js";
import { withinBounds } from "../attempt-facts.js";
import { outputOfFailure, storeOutput } from "../attempt-output.js";
import type { TimerPort } from "../attempt-timers.js";
import type { Fate } from "../worker.js";
import { type PoolAttempt, VERDICT_MS } from "./pool-attempt.js";
import { type ReportAnswer, type SentOutcome, type Stream, stream } from "./protocol.js";
import type { ReceivedFiles } from "./received-files.js";

/** What the store says of attempts that this server has no memory of. */
export interface RecordedAttempts {
  readAttempts(runId: number, jobId: number): Promise<readonly AttemptRow[]>;
  readJob(jobId: number): Promise<JobRow | null>;
}

/** Outcomes remembered for reports that come twice; older ones are looked up in the store. */
const MAX_REMEMBERED = 10_000;

/** Its worker has redacted it: this server need not know the secrets. */
const AS_SENT = { redactJson: (value: Json): Json => value };

/** Takes reports of workers: their logs first, then the result, answered once it is on record. */
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

  /** The engine says that it is under way: what was known of it counts no more. */
  unremember(token: string): void {
    this.remembered.delete(token);
  }

  /** `answered` is called with what came of a report that the engine was asked about. */
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

  /** Nobody here waits for it: it was taken before, or is somebody else's, or its run has not come here yet. */
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
    // A disk that is full now may have room later.
    const lacking = files === null ? null : await files.catch(() => notHere(token));
    if (lacking !== null) return lacking;
    const seen = this.seen(outcome, attempt);
    if (seen === null || this.mustWait(attempt, seen)) return notHere(token);
    attempt.hasEnded = true;
    const { ended } = attempt;
    // Its run was let go of while the files were written.
    if (ended === null) return notHere(token);
    attempt.ended = null;
    return new Promise((resolve) => ended(seen, (fate) => resolve(ANSWERS[fate](token))));
  }

  /** Why its allocation ends is for the batch system to say; its worker offers the report again until it leaves. */
  private mustWait(attempt: PoolAttempt, outcome: Outcome): boolean {
    if (outcome.kind !== "failed" || outcome.facts.evicted !== true || !attempt.awaitsVerdict) return false;
    attempt.evictedAt ??= this.clock.elapsed();
    return this.clock.elapsed() - attempt.evictedAt < VERDICT_MS;
  }

  /** What goes on record: of an output what this server sees for itself, whatever the worker says. Null: it cannot now. */
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
      // Only for a forEach step are there any; the engine knows which steps those are.
      return { ...said, output: seen.output, items: said.items == null ? null : seen.items };
    } catch {
      return null;
    }
  }

  /** Null: there is nothing to wait for. Resolves to null when all that belongs to the report is here. */
  private writeFiles(attempt: PoolAttempt, sent: SentOutcome): Promise<ReportAnswer | null> | null {
    const { outcome, summary } = sent;
    if (summary !== null) this.writeSummary(attempt, summary);
    const pieces = sent.logs.map(async ({ stream: which, offset, data }) => {
      const bytes = Buffer.from(data, "base64");
      return (await attempt.writeLog(this.files, which, offset, bytes)) >= offset;
    });
    const isFile = outcome.kind === "succeeded" && outcome.output.kind === "artifact";
    // An empty log is made in its own time.
    if (!isFile && sent.logs.every(({ offset, data }) => offset === 0 && data === "")) {
      for (const piece of pieces) piece.catch(() => {});
      return null;
    }
    return Promise.all(pieces).then((whole) => this.lacking(attempt, sent, whole.every(Boolean)));
  }

  /** A convenience: without it the failure is still the same failure. */
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
