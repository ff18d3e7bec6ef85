import type { Job } from "../../core/model/run.js";
import type { Client } from "../../operations/client.js";
import { jobName } from "../../tell/lookup/job-name.js";
import type { Progress } from "../render/progress.js";
import { StepOutput } from "../render/step-output.js";

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
