import { writeFileSync } from "node:fs";
import {
  bytesOf,
  MAX_USER_DATA_BYTES,
  refuseUserData,
  type UserData,
} from "../../core/model/batch/user-data.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import type { Json } from "../../core/text/json.js";
import { readOutputFile } from "../process/attempt-files.js";
import type { Assignment } from "../worker.js";
import { removeIfThere } from "./attempt-leavings.js";

/** The two files through which a command reads and writes user data. Each is one JSON object by name. */
export class UserDataFiles {
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
