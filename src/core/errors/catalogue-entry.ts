/** One code of the catalogue in `errors.ts`. */
export interface CatalogueEntry {
  readonly means: string;
  readonly next: string;
  /** In place of `next`, over REST and MCP. */
  readonly asked?: string;
  /** The part of `next` that is about the cause, where the rest says how to go on. */
  readonly fix?: string;
}

/** Faults of the file itself: a run keeps the definition that it started with, so a retry cannot mend them. */
export function inFile(means: string, fix: string): Required<CatalogueEntry> {
  const kept = "The run keeps the file that it started with; a corrected one takes effect in a new run:";
  return {
    means,
    fix,
    next: `${fix} ${kept} \`daruma fork RUN --from STEP --file FILE\`.`,
    asked: `${fix} ${kept} fork_run with its text in \`source\`.`,
  };
}

/** Causes outside of the file: once they are mended, the step can run again in the same run. */
export function thenRetry(means: string, fix: string): Required<CatalogueEntry> {
  return {
    means,
    fix,
    next: `${fix} Then run the step again: \`daruma retry RUN STEP\`.`,
    asked: `${fix} Then run the step again: control_run with action retry_step.`,
  };
}

/** Causes that may lie in the file or outside of it. */
export function thenRetryOrFork(means: string, fix: string): Required<CatalogueEntry> {
  const { next, asked } = thenRetry(means, fix);
  const kept = "A corrected file takes effect in a new run only:";
  return {
    means,
    fix,
    next: `${next} ${kept} \`daruma fork RUN --from STEP --file FILE\`.`,
    asked: `${asked} ${kept} fork_run with its text in \`source\`.`,
  };
}
