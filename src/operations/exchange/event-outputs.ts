import type { Event, Output } from "../../core/model/events.js";

type ArtifactOutput = Extract<Output, { kind: "artifact" }>;

/** The same event with other places for the outputs that are kept as files. */
export function withOutputPaths(event: Event, newPath: (output: ArtifactOutput) => string): Event {
  const moved = (output: Output): Output =>
    output.kind === "artifact" ? { ...output, path: newPath(output) } : output;
  switch (event.type) {
    case "attempt.succeeded":
    case "job.reused":
      return { ...event, output: moved(event.output) };
    case "hold.resolved":
      return event.output === null ? event : { ...event, output: moved(event.output) };
    case "run.forked":
      return { ...event, reuse: event.reuse.map((job) => ({ ...job, output: moved(job.output) })) };
    default:
      return event;
  }
}
