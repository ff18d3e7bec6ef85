import { readFileSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";
import { VARIABLES } from "../../../core/model/variable-names.js";
import type { Json } from "../../../core/text/json.js";
import type { Labels } from "../../../core/text/labels.js";
import type { RunReference } from "../../../tell/lookup/run-reference.js";
import type { FollowFlags } from "../../server/server-flags.js";

export interface RunFlags extends FollowFlags {
  readonly input?: readonly string[];
  readonly context?: string;
  readonly label?: readonly string[];
  readonly priority?: number;
  readonly onFailMaxLoops?: number;
  readonly retryMax?: number;
  readonly failureRouting: boolean;
  readonly only?: string;
  /** Reuses unchanged steps of this run; true means the newest ended run. */
  readonly reuse?: true | RunReference;
  readonly keepStoodIn?: boolean;
  /** Only prints what `reuse` would run. */
  readonly dryRun?: boolean;
  readonly stored?: boolean;
  /** The workspace's folder; false for none. */
  readonly folder?: string | false;
  readonly key?: string;
}

export function reused(flag: true | RunReference): "last_ended" | RunReference {
  return flag === true ? "last_ended" : flag;
}

export interface ResumeFlags extends FollowFlags {
  /** A module that exports the run's flow. */
  readonly flows?: string;
  readonly reason?: string;
  readonly key?: string;
}

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

type Variables = { readonly [name: string]: Json };

/** Reads `name=value` pairs. Values stay text; the workflow defines their types. */
export function readInputs(pairs: readonly string[]): { readonly [name: string]: string } {
  return readPairs(pairs, { flag: "--input", form: "name=value", what: "input" });
}

/** Reads `key=value` pairs. */
export function readLabels(pairs: readonly string[]): Labels {
  return readPairs(pairs, { flag: "--label", form: "key=value", what: "label" });
}

function readPairs(
  pairs: readonly string[],
  { flag, form, what }: { readonly flag: string; readonly form: string; readonly what: string },
): { readonly [name: string]: string } {
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1)
      throw new DarumaError("USAGE", `${flag} ${pair}: ${form} expected`, {
        hint: `Write ${flag} ${form}.`,
      });
    const name = pair.slice(0, at);
    if (values.has(name))
      throw new DarumaError("USAGE", `${flag} ${name} is given twice`, { hint: `Give each ${what} once.` });
    values.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries(values);
}

/** Reads a JSON object whose keys become variables of expressions and templates. */
export function readContext(file: string): Variables {
  const value = parse(file);
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new DarumaError("INVALID_INPUT", `${file}: the context must be a JSON object`, {
      hint: 'Write an object such as {"pr": {"number": 7}}.',
    });
  }
  // A context must not appear to replace a variable that every expression has.
  const taken = Object.keys(value).filter((name) => Object.hasOwn(VARIABLES, name));
  if (taken.length > 0) {
    throw new DarumaError("INVALID_INPUT", `${file}: Daruma sets the variable ${taken.join(", ")}`, {
      hint: "Choose another name.",
    });
  }
  return value as Variables;
}

function parse(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new DarumaError("FILE_NOT_FOUND", `${file}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DarumaError("INVALID_INPUT", `${file} is not JSON: ${(error as Error).message}`, {
      hint: "Fix the file.",
      cause: error,
    });
  }
}
