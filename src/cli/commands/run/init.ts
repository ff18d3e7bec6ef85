import { writeFileSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";
import { shellWord } from "../../../report/words/shell-word.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";

/** Needs nothing but a shell. Both failures are real, so that `explain` has something to tell. */
const FIRST_WORKFLOW = `# Your first workflow. Two of its steps fail, and it completes anyway.
name: first

steps:
  # Fails twice, then works. Trying again after a short pause is enough: a retry.
  fetch:
    type: command
    exec: |
      if [ "$DARUMA_ATTEMPT_ID" -lt 3 ]; then
        echo "503: the mirror is busy" >&2
        exit 75
      fi
      echo "fetched"
    on_fail:
      retry: { max: 3, backoff: { mode: exponential, delay_ms: 200, max_delay_ms: 2000 } }

  # Trying again would not help here. A repair does: lint-fix runs, then test runs once more.
  test:
    type: command
    depends_on: [fetch]
    exec: |
      if [ ! -e "$DARUMA_OUTPUT_DIR/fixed-$DARUMA_RUN_ID" ]; then
        echo "test: 3 lines are badly formatted" >&2
        exit 1
      fi
      echo "all tests pass"
    on_fail:
      run: [lint-fix]

  # Runs only when a step above asks for it.
  lint-fix:
    type: command
    exec: touch "$DARUMA_OUTPUT_DIR/fixed-$DARUMA_RUN_ID"

  publish:
    type: command
    depends_on: [test]
    exec: echo "published"
`;

/** Never overwrites: the file may be somebody's work. */
export async function init(file: string, { out, options }: Session): Promise<number> {
  try {
    writeFileSync(file, FIRST_WORKFLOW, { flag: "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new DarumaError("FILE_EXISTS", `${file} already exists`, { cause: error });
    throw new DarumaError("USAGE", `cannot write ${file}: ${message}`, {
      hint: "Name a file in a folder that exists and that you can write to.",
      cause: error,
    });
  }
  if (options.json) writeJson(out, { file });
  else if (!options.quiet)
    writeLines(out, [
      `wrote ${file}`,
      `run it:        daruma run ${shellWord(file)}`,
      "what happened: daruma explain last",
    ]);
  return EXIT.completed;
}
