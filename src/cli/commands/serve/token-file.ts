import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";
import { messageOf } from "../../../core/text/message-of.js";

/** Permission bits of the group and of others. */
const OF_OTHERS = 0o077;
const MAX_TOKEN_FILE_BYTES = 4_096;

/** Reads a token from a file that only its owner can read. No error message contains it. */
export function readTokenFile(file: string): string {
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw refused(
      file,
      `cannot be read: ${messageOf(error)}`,
      "Write the token into it, for yourself alone.",
    );
  }
  try {
    const { uid, mode, size } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > MAX_TOKEN_FILE_BYTES)
      throw refused(file, "is not a file with one token", "Write nothing but the token into it.");
    if (process.getuid !== undefined && uid !== process.getuid())
      throw refused(file, "belongs to another user", "Make a copy of your own with `chmod 600`.");
    if ((mode & OF_OTHERS) !== 0)
      throw refused(file, "can be read or changed by others", `Run \`chmod 600 ${file}\`.`);
    const token = readFileSync(fd, "utf8").trim();
    if (!/^[\x21-\x7e]+$/.test(token))
      throw refused(file, "is not a file with one token", "Write nothing but the token into it.");
    return token;
  } finally {
    closeSync(fd);
  }
}

function refused(file: string, what: string, hint: string): DarumaError {
  return new DarumaError("USAGE", `--token-file ${file} ${what}`, { hint });
}
