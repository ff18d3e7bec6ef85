import type { FileFacts } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import type { Assignment } from "../worker.js";
import { notWritten } from "./attempt-facts.js";
import type { AttemptWorkspace } from "./attempt-workspace.js";
import { DeclaredFiles } from "./declared-files.js";
import { UserDataFiles } from "./user-data-files.js";

/** The record of what an attempt claims to produce. */
type Made = {
  readonly files?: readonly FileFacts[];
  readonly user_data?: NonNullable<Assignment["userData"]>["given"];
};

export interface DeclaredPorts {
  readonly base: string;
  readonly workspace: AttemptWorkspace | null;
  readonly redactor: Redactor;
  /** Prefix for the names of the attempt's private files. */
  readonly scratch: () => string;
}

/** The files and user data that a step declares to need and produce. */
export class DeclaredData {
  private readonly files: DeclaredFiles | null;
  private readonly userData: UserDataFiles | null;

  constructor(
    private readonly assignment: Assignment,
    { base, workspace, redactor, scratch }: DeclaredPorts,
  ) {
    const { files, userData } = assignment;
    this.files = files === undefined ? null : new DeclaredFiles(base, assignment, workspace);
    this.userData = userData === undefined ? null : new UserDataFiles(userData, scratch(), redactor);
  }

  /** Returns null if everything that the step needs exists. */
  async before(signal: AbortSignal): Promise<FailureFacts | null> {
    try {
      this.userData?.write();
    } catch (error) {
      return notWritten("the user data of the attempt", error);
    }
    try {
      return (await this.files?.before(signal)) ?? null;
    } catch (error) {
      return notWritten("what is known of the input files", error);
    }
  }

  /** The assignment with variables that name its user data files. */
  get equipped(): Assignment {
    const { assignment, userData } = this;
    if (userData === null) return assignment;
    return { ...assignment, env: { ...assignment.env, ...userData.environment } };
  }

  /** Returns what to record, or what is missing. */
  async after(signal: AbortSignal): Promise<{ readonly made: Made } | { readonly missing: FailureFacts }> {
    const written = this.userData === null ? {} : this.userData.read();
    if ("missing" in written) return written;
    if (this.files === null) return { made: written };
    const found = await this.files.after(signal);
    return "missing" in found ? found : { made: { ...found, ...written } };
  }

  clear(): void {
    this.userData?.clear();
  }
}
