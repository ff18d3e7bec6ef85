/** What an attempt that failed has printed, as far as a report shows it. */
export interface FailedLog {
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly attempts: number;
  /** What became of its job: nothing goes on from here, a step has handled it, or a later attempt completed. */
  readonly standing: "failed" | "held" | "handled" | "rescued" | "open";
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly streams: readonly ShownStream[];
}

export interface ShownStream {
  readonly stream: "stderr" | "stdout";
  readonly total: number;
  readonly size: number;
  /** The attempt has printed more than its workflow allows. */
  readonly truncated: boolean;
  /** Some lines before them, between them or in them may be left out: their numbers tell. */
  readonly items: readonly ShownLine[];
}

/** As `get_job_logs` gives it. */
export interface ShownLine {
  readonly line: number;
  readonly text: string;
  /** The line is longer: where it lies in the file. */
  readonly cut?: { readonly offset: number; readonly bytes: number } | undefined;
  readonly error?: true | undefined;
}
