import { isAbsolute } from "node:path";
import type { FileFacts } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import { shortageBehind } from "../process/machine-shortage.js";
import type { Assignment } from "../worker.js";
import type { AttemptWorkspace } from "./attempt-workspace.js";
import { contentOf } from "./file-content.js";
import { workFolder } from "./work-folder.js";

type Role = FileFacts["role"];
const MISSING: { readonly [role in Role]: { readonly code: string; readonly what: string } } = {
  input: { code: "INPUT_MISSING", what: "the input file" },
  output: { code: "OUTPUT_MISSING", what: "the step ended without its output file" },
};

/**
 * The files that a step declares to need and produce. Inputs are described before it begins, because it may change
 * them.
 */
export class DeclaredFiles {
  private inputs: readonly FileFacts[] = [];

  constructor(
    private readonly base: string,
    private readonly assignment: Assignment,
    private readonly workspace: AttemptWorkspace | null,
  ) {}

  /** Returns null if all inputs exist. Files not yet read when `signal` is aborted get no hash. */
  async before(signal: AbortSignal): Promise<FailureFacts | null> {
    const found = await this.describe("input", this.assignment.files?.inputs ?? [], signal);
    if ("missing" in found) return found.missing;
    this.inputs = found.files;
    return null;
  }

  /** Returns the record of inputs and outputs, or the missing output. */
  async after(
    signal: AbortSignal,
  ): Promise<{ readonly files: readonly FileFacts[] } | { readonly missing: FailureFacts }> {
    const found = await this.describe("output", this.assignment.files?.outputs ?? [], signal);
    return "missing" in found ? found : { files: [...this.inputs, ...found.files] };
  }

  private async describe(
    role: Role,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly files: readonly FileFacts[] } | { readonly missing: FailureFacts }> {
    const files: FileFacts[] = [];
    for (const path of paths) {
      const file = this.placeOf(path);
      try {
        files.push({ role, path, ...(await contentOf(file, signal)) });
      } catch (error) {
        // The file may well exist.
        if (shortageBehind(error) !== null) throw error;
        const { code, what } = MISSING[role];
        const { code: errno } = error as NodeJS.ErrnoException;
        const why = errno === "ENOENT" ? "" : `: ${errno ?? "it cannot be read"}`;
        const message = role === "input" ? `${what} ${path} is not there${why}` : `${what} ${path}${why}`;
        return { missing: { code, message } };
      }
    }
    return { files };
  }

  private placeOf(path: string): string {
    if (isAbsolute(path)) return path;
    if (this.workspace !== null) return this.workspace.folder(path);
    const { runId, files } = this.assignment;
    return workFolder(this.base, { runId, cwd: `${files!.folder === "" ? "" : `${files!.folder}/`}${path}` });
  }
}
