import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type SecretPlace, secretPlaceName } from "../../core/text/secret-place.js";

export type Environment = { readonly [name: string]: string | undefined };

/** The secret, or why it cannot be used; the reason never contains any of it. */
export type FoundSecret = { readonly value: string } | { readonly problem: string };

const MAX_SECRET_BYTES = 10_000;

/**
 * Reads a secret at the time of use. A file must be a regular file with one line; a pipe, a device or a folder is
 * refused at once.
 */
export function findSecret(place: SecretPlace, env: Environment): FoundSecret {
  const found = "variable" in place ? { value: env[place.variable] ?? "" } : readSecretFile(place.file);
  const problem = "problem" in found ? found.problem : problemOf(found.value.trim());
  if (problem !== null) return { problem: `${secretPlaceName(place)} ${problem}` };
  return { value: (found as { value: string }).value.trim() };
}

function problemOf(secret: string): string | null {
  if (secret === "") return "is empty or missing";
  if (Buffer.byteLength(secret) > MAX_SECRET_BYTES) return `has more than ${MAX_SECRET_BYTES} bytes`;
  return /[\r\n]/.test(secret) ? "is not one line" : null;
}

function readSecretFile(file: string): FoundSecret {
  let descriptor: number | null = null;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(descriptor).isFile()) return { problem: "is not a regular file" };
    // Reads past the limit whatever the reported size is, because the file may be growing.
    const bytes = Buffer.alloc(MAX_SECRET_BYTES + 3);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    return length === bytes.length
      ? { problem: `has more than ${MAX_SECRET_BYTES} bytes` }
      : { value: bytes.toString("utf8", 0, length) };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return { problem: code === "ENOENT" ? "is empty or missing" : `cannot be read (${code})` };
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
