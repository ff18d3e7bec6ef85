import { readFileSync } from "node:fs";

/** In place of a file's name: the workflow comes from standard input, and its steps work in the present folder. */
export const STDIN = "-";

/** How problems call it; without its ending the default name of the workflow. */
export const STDIN_NAME = "stdin.yaml";

const STDIN_DESCRIPTOR = 0;

export function readStdin(): string {
  return readFileSync(STDIN_DESCRIPTOR, "utf8");
}

/** `release`, or `release@3`. */
export function splitVersion(name: string): { workflow: string; version?: number } {
  const parts = /^(.+)@(\d+)$/.exec(name);
  return parts === null ? { workflow: name } : { workflow: parts[1]!, version: Number(parts[2]) };
}
