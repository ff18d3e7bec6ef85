import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import {
  bytesOf,
  MAX_USER_DATA_BYTES,
  refuseUserData,
  type UserData,
} from "../../core/model/batch/user-data.js";
import type { FileFacts, TokenUsage } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import type { Json } from "../../core/text/json.js";
import { readOutputFile } from "../process/attempt-files.js";
import { shortageBehind } from "../process/machine-shortage.js";
import type { Assignment } from "../worker.js";
import { notWritten } from "./attempt-facts.js";
import { workFolder } from "./attempt-paths.js";
import type { AttemptWorkspace } from "./attempt-workspace.js";
import { contentOf } from "./file-content.js";

type Role = FileFacts["role"];
const MISSING: { readonly [role in Role]: { readonly code: string; readonly what: string } } = {
  input: { code: "INPUT_MISSING", what: "the input file" },
  output: { code: "OUTPUT_MISSING", what: "the step ended without its output file" },
};

/**
 * The files that a step declares to need and produce. Inputs are described before it begins, because it may change
 * them.
 */
class DeclaredFiles {
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

/** The two files through which a command reads and writes user data. Each is one JSON object by name. */
class UserDataFiles {
  private readonly given: string | null;
  private readonly written: string | null;

  constructor(
    private readonly data: NonNullable<Assignment["userData"]>,
    /** Prefix of their names, in a folder that only this user can read. */
    scratch: string,
    private readonly redactor: Redactor,
  ) {
    this.given = Object.keys(data.given).length === 0 ? null : `${scratch}.user-data-in`;
    this.written = data.outputs.length === 0 ? null : `${scratch}.user-data-out`;
  }

  get environment(): { readonly [variable: string]: string } {
    return {
      ...(this.given === null ? {} : { DARUMA_USER_DATA_IN: this.given }),
      ...(this.written === null ? {} : { DARUMA_USER_DATA_OUT: this.written }),
    };
  }

  /** Writes the data. Throws if there is no room for it. */
  write(): void {
    if (this.given !== null) writeFileSync(this.given, JSON.stringify(this.data.given), { mode: 0o600 });
    // An earlier try to start the attempt may have left it.
    if (this.written !== null) removeIfThere(this.written);
  }

  read(): { readonly user_data?: UserData } | { readonly missing: FailureFacts } {
    if (this.written === null) return {};
    const file = readOutputFile(this.written);
    if (file.kind === "invalid") return refused(file.defect);
    const value = file.kind === "missing" ? {} : file.value;
    if (!isObject(value)) return refused("not a JSON object");
    const outputs = { userData: { inputs: [], outputs: this.data.outputs } };
    const unfit = refuseUserData(outputs, value);
    if (unfit !== null) return { missing: unfit };
    const user_data = this.withoutSecrets(value);
    if (bytesOf(user_data) <= MAX_USER_DATA_BYTES) return { user_data };
    return refused(`larger than ${MAX_USER_DATA_BYTES} bytes; write a file, and name it in \`files\``);
  }

  clear(): void {
    for (const file of [this.given, this.written]) if (file !== null) removeIfThere(file);
  }

  /** Redacts the values. The names are those of the workflow file and stay unchanged. */
  private withoutSecrets(values: UserData): UserData {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]): [string, Json] => [name, this.redactor.redactJson(value)]),
    );
  }
}

function refused(defect: string): { readonly missing: FailureFacts } {
  return { missing: { code: "OUTPUT_INVALID", message: `$DARUMA_USER_DATA_OUT: ${defect}` } };
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The record of what an attempt claims to produce. */
type Made = {
  readonly files?: readonly FileFacts[];
  readonly user_data?: NonNullable<Assignment["userData"]>["given"];
};

interface DeclaredPorts {
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

/** Writes token usage, for statistics. The attempt does not depend on it. */
export function writeUsage(file: string, usage: TokenUsage): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(usage), { mode: 0o600 });
  } catch {}
}

/** Removes a file. Most steps write none, and checking costs less than an error with its stack. */
export function removeIfThere(path: string): void {
  if (existsSync(path)) rmSync(path, { force: true });
}
