import { StringDecoder } from "node:string_decoder";
import { type Job, jobById } from "../../core/model/run.js";
import type { Daruma } from "../../host/daruma.js";
import type { Client } from "../../operations/client.js";
import { jobName } from "../../tell/lookup/job-name.js";
import { harmlessLines } from "./columns.js";
import type { Progress } from "./progress.js";

/** A longer line is shown in parts, so that output without line breaks is shown, too. */
const MAX_LINE_CHARS = 8_192;

interface OpenStream {
  readonly decoder: StringDecoder;
  pending: string;
}

/** Collects what steps print into whole lines that are safe for a terminal. */
export class StepOutput {
  private readonly streams = new Map<string, OpenStream>();

  constructor(private readonly print: (name: string, lines: readonly string[]) => void) {}

  take(stream: string, name: string, bytes: Uint8Array): void {
    const open = this.streams.get(stream) ?? { decoder: new StringDecoder("utf8"), pending: "" };
    this.streams.set(stream, open);
    const lines = (open.pending + open.decoder.write(Buffer.from(bytes))).split("\n");
    open.pending = lines.pop()!;
    while (open.pending.length > MAX_LINE_CHARS) {
      lines.push(open.pending.slice(0, MAX_LINE_CHARS));
      open.pending = open.pending.slice(MAX_LINE_CHARS);
    }
    this.tell(name, lines);
  }

  end(stream: string, name: string): void {
    const open = this.streams.get(stream);
    this.streams.delete(stream);
    const rest = open === undefined ? "" : open.pending + open.decoder.end();
    if (rest !== "") this.tell(name, [rest]);
  }

  private tell(name: string, lines: readonly string[]): void {
    if (lines.length > 0) this.print(name, lines.map(lastDrawn));
  }
}

/** The final state of a line that was redrawn, such as a progress bar. */
function lastDrawn(line: string): string {
  const drawn = line.replace(/\r+$/, "").split("\r").at(-1)!;
  return harmlessLines(drawn).join(" ").trimEnd();
}

/** Shows every line that a step prints in this process, with the name of its job. */
export function showOutput(daruma: Daruma, progress: Progress): void {
  const output = new StepOutput((name, lines) => progress.printed(name, lines));
  const names = new Map<number, string>();
  daruma.onCommitted((run, events) => {
    for (const { event } of events)
      if (event.type === "attempt.started") names.set(event.job, jobName(jobById(run, event.job)));
  });
  daruma.onOutput(({ jobId, step, recovery, stream, bytes }) => {
    const key = `${jobId} ${stream} ${recovery}`;
    const name = `${names.get(jobId) ?? step}${recovery ? " (recovery)" : ""}`;
    if (bytes === null) output.end(key, name);
    else output.take(key, name, bytes);
  });
}

/** Shows what the attempts of a server's run print, by reading their logs as they grow. */
export class ServerOutput {
  private readonly output: StepOutput;
  private readonly reading: Promise<void>[] = [];

  constructor(
    private readonly client: Client,
    progress: Progress,
    private readonly signal: AbortSignal,
  ) {
    this.output = new StepOutput((name, lines) => progress.printed(name, lines));
  }

  follow(job: Job, attempt: number): void {
    if (job.step.definition.action.type === "human") return;
    // A log that cannot be read does not affect the run. The summary names the command that reads it.
    for (const stream of ["stdout", "stderr"] as const)
      this.reading.push(this.read(job.id, jobName(job), attempt, stream).catch(() => {}));
  }

  /** Resolves when all output has been shown. */
  async ended(): Promise<void> {
    await Promise.all(this.reading);
  }

  private async read(
    job_id: number,
    name: string,
    attempt: number,
    stream: "stdout" | "stderr",
  ): Promise<void> {
    const key = `${job_id} ${attempt} ${stream}`;
    const request = { job_id, attempt, stream, encoding: "base64" } as const;
    for await (const { data } of this.client.stream("get_job_logs", request, this.signal))
      this.output.take(key, name, Buffer.from((data as { text: string }).text, "base64"));
    this.output.end(key, name);
  }
}
