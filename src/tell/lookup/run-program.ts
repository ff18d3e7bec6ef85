import type { RunOptions } from "../../core/model/events.js";
import { nullable, type OfFields, text } from "../../core/text/shape.js";

export const RUN_PROGRAM = { file: nullable(text), key: nullable(text) } as const;
/** The program whose functions are steps of a run, and the key that it gave the run. */
export type RunProgram = OfFields<typeof RUN_PROGRAM>;

const KEY_MARK = "key/";

interface Started {
  readonly options: Pick<RunOptions, "program">;
  readonly cause: string | null;
}

/** Only this program goes on with the run; null: any process can, or servers do. */
export function programOf({ options: { program }, cause }: Started): RunProgram | null {
  if (program === undefined) return null;
  const key = cause?.startsWith(KEY_MARK) === true ? cause.slice(KEY_MARK.length) : null;
  return { file: program === "" ? null : program, key };
}

/** What has to happen where nobody runs it; null: `resume` in any process. */
export function programGoesOn(run: Started & { readonly id: number }): string | null {
  const program = programOf(run);
  return program === null ? null : goesOnWith(program, run.id);
}

/** The program's name for a sentence. */
export function programName({ file, key }: RunProgram): string {
  return `${file ?? "the program that started it"}${key === null ? "" : ` (key ${key})`}`;
}

/** What becomes of a run that any decision was taken about, and of one that was interrupted. */
export function goesOnWith(program: RunProgram, runId: number): string {
  const name = programName(program);
  // Without a key a start of the program begins another run.
  return program.key === null
    ? `goes on when ${name} calls daruma.resume(${runId})`
    : `goes on when ${name} starts`;
}
