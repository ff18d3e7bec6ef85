import { isAbsolute, join } from "node:path";
import type { FileFacts, Output } from "../../core/model/events.js";
import { contentOf } from "../../run/worker/file-content.js";
import type { FileTrouble, WhyItRuns } from "./reasons.js";

type Found = { readonly sha256: string | null } | { readonly trouble: "missing" | "unreadable" };

/** Looks whether files still have the content that was recorded; each file is read once. */
export class KeptFiles {
  private readonly found = new Map<string, Promise<Found>>();

  /** `folder` is where relative paths start; "": every run has another one. */
  constructor(private readonly folder: string) {}

  /** Why a declared file has changed. Null if all are as the recorded attempt found and left them. */
  async whyChanged(
    declared: { readonly inputs: readonly string[]; readonly outputs: readonly string[] },
    recorded: readonly FileFacts[],
  ): Promise<WhyItRuns | null> {
    for (const role of ["input", "output"] as const) {
      for (const path of declared[`${role}s`]) {
        const facts = recorded.find((each) => each.role === role && each.path === path);
        const file = await this.troubleWith(path, facts?.sha256);
        if (file !== null) return { kind: `${role}_file`, path, file };
      }
    }
    return null;
  }

  /** An output that was too large for the log lies in a file of the run that made it. */
  async isThere(output: Output): Promise<boolean> {
    return output.kind === "value" || (await this.troubleWith(output.path, output.sha256)) === null;
  }

  private async troubleWith(path: string, sha256: string | null | undefined): Promise<FileTrouble | null> {
    if (sha256 === undefined) return "not_recorded";
    if (this.folder === "" && !isAbsolute(path)) return "missing";
    const found = await this.contentOf(isAbsolute(path) ? path : join(this.folder, path));
    if ("trouble" in found) return found.trouble;
    if (sha256 === null || found.sha256 === null) return "not_a_file";
    return found.sha256 === sha256 ? null : "changed";
  }

  private contentOf(file: string): Promise<Found> {
    const known = this.found.get(file);
    if (known !== undefined) return known;
    const found = contentOf(file).then(
      ({ sha256 }) => ({ sha256 }),
      (error: NodeJS.ErrnoException) => ({
        trouble: error.code === "ENOENT" ? ("missing" as const) : ("unreadable" as const),
      }),
    );
    this.found.set(file, found);
    return found;
  }
}
