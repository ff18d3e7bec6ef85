import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DarumaError } from "../../../core/errors/errors.js";
import { shellWord } from "../../../tell/words/shell-word.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { type ProjectFolder, projectWorkflow } from "./project-workflow.js";

/** A workflow that needs only a shell. Both failures are real, so that `explain` has something to show. */
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

/** Limit for a file that describes a project. Nobody writes a larger one by hand. */
const MAX_PROJECT_FILE_BYTES = 1_000_000;

interface InitFlags {
  readonly example?: boolean;
}

/**
 * Writes a workflow that fits the folder, or else the first example. Never overwrites, because the file may be
 * somebody's work.
 */
export async function init(file: string, flags: InitFlags, { out, options }: Session): Promise<number> {
  const made = flags.example === true ? null : projectWorkflow(projectFolder(dirname(resolve(file))));
  try {
    writeFileSync(file, made?.text ?? FIRST_WORKFLOW, { flag: "wx" });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new DarumaError("FILE_EXISTS", `${file} already exists`, { cause: error });
    throw new DarumaError("USAGE", `cannot write ${file}: ${message}`, {
      hint: "Name a file in a folder that exists and that you can write to.",
      cause: error,
    });
  }
  if (options.json) writeJson(out, { file, made_from: made?.from ?? null });
  else if (!options.quiet)
    writeLines(out, [
      made === null ? `wrote ${file}` : `wrote ${file}, made from ${made.from}`,
      `run it:        daruma run ${shellWord(file)}`,
      "what happened: daruma explain last",
    ]);
  return EXIT.completed;
}

function projectFolder(folder: string): ProjectFolder {
  const entry = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false });
  return {
    has: (name) => entry(name)?.isFile() === true,
    read: (name) => {
      const found = entry(name);
      const isReadable = found?.isFile() === true && found.size <= MAX_PROJECT_FILE_BYTES;
      return isReadable ? readFileSync(join(folder, name), "utf8") : null;
    },
  };
}
