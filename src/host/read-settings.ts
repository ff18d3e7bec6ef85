import { existsSync } from "node:fs";
import { DarumaError } from "../core/errors/errors.js";
import { messageOf } from "../core/text/message-of.js";
import type { Problem } from "../file/read/problem.js";
import { loadSettings } from "../file/settings/load-settings.js";
import { NO_SETTINGS, type Settings } from "../file/settings/settings.js";
import type { DescribedSettings } from "../operations/context.js";
import { readText } from "../operations/workflows/workflow-source.js";
import { nameFinder } from "../run/sandbox/names/find-names.js";
import { checkExpression } from "../run/sandbox/wrap-code.js";
import { SETTINGS_FILE } from "../run/wiring/find-settings.js";

/** A settings file with every problem in it at once. */
class InvalidSettings extends DarumaError {
  constructor(
    readonly file: string,
    readonly problems: readonly Problem[],
  ) {
    const [first] = problems;
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    super(first?.code ?? "YAML_SYNTAX", `${file} has ${count}: ${first?.message ?? ""}`, {
      ...(first === undefined ? {} : { hint: first.hint }),
    });
  }
}

/** Throws FILE_NOT_FOUND, or an error with every problem. */
export function readSettings(file: string): Settings {
  const loaded = loadSettings(readText(file), file, { checkExpression, findNames: nameFinder });
  if (!loaded.ok) throw new InvalidSettings(file, loaded.problems);
  return loaded.value;
}

/** What was said of settings on the command line or in the environment. */
export interface NamedSettings {
  readonly config?: string | undefined;
  readonly noConfig?: boolean | undefined;
}

/** The file that is named; else that of the working folder, if there is one; null: there is none, or none is wanted. */
function fileBeside({ config, noConfig }: NamedSettings): string | null {
  if (config !== undefined) return config;
  return noConfig !== true && existsSync(SETTINGS_FILE) ? SETTINGS_FILE : null;
}

/** Which file is in use here, and what is wrong with it. */
export function describeSettings(named: NamedSettings): DescribedSettings {
  const file = fileBeside(named);
  if (file === null) return { file, problem: null };
  try {
    readSettings(file);
    return { file, problem: null };
  } catch (error) {
    return { file, problem: messageOf(error) };
  }
}

/** The settings of the named file, or else those of the working folder, as a server uses them, if there are any. */
export function settingsBeside(named: NamedSettings): Settings {
  const file = fileBeside(named);
  return file === null ? NO_SETTINGS : readSettings(file);
}
