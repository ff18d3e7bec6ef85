import { readFileSync } from "node:fs";

/** Given instead of a file name: the workflow is read from standard input, and its steps work in the current folder. */
export const STDIN = "-";

/** The file name in problems. Without its extension it is the workflow's default name. */
export const STDIN_NAME = "stdin.yaml";

const STDIN_DESCRIPTOR = 0;

export function readStdin(): string {
  return readFileSync(STDIN_DESCRIPTOR, "utf8");
}

/** Splits `release` or `release@3`. */
export function splitVersion(name: string): { workflow: string; version?: number } {
  const parts = /^(.+)@(\d+)$/.exec(name);
  return parts === null ? { workflow: name } : { workflow: parts[1]!, version: Number(parts[2]) };
}
