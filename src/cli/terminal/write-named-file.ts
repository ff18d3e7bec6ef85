import { writeFileSync } from "node:fs";
import { DarumaError } from "../../core/errors/errors.js";
import { messageOf } from "../../core/text/message-of.js";

/** Writes the file that a flag names. */
export function writeNamedFile(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new DarumaError("USAGE", `${file} cannot be written: ${messageOf(error)}`);
  }
}
