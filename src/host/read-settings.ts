import { existsSync } from "node:fs";
import { DarumaError } from "../core/errors/errors.js";
import { messageOf } from "../core/text/message-of.js";
import type { Problem } from "../definition/read/problem.js";
import type { DescribedSettings } from "../operations/context.js";
import { readSource } from "../operations/workflows/workflow-source.js";
import { checkExpression } from "../sandbox/check-expression.js";
import { nameFinder } from "../sandbox/names/find-names.js";
import { loadSettings } from "../settings/load-settings.js";
import { NO_SETTINGS, type Settings } from "../settings/settings.js";

/** What a server reads from its working folder where no file is named. */
export const SETTINGS_FILE = "daruma.config.yaml";

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
  const loaded = loadSettings(readSource(file), file, { checkExpression, findNames: nameFinder });
  if (!loaded.ok) throw new InvalidSettings(file, loaded.problems);
  return loaded.value;
}

/** Which file is in use here, and what is wrong with it. */
export function describeSettings(named: string | undefined): DescribedSettings {
  const file = named ?? (existsSync(SETTINGS_FILE) ? SETTINGS_FILE : null);
  if (file === null) return { file, problem: null };
  try {
    readSettings(file);
    return { file, problem: null };
  } catch (error) {
    return { file, problem: messageOf(error) };
  }
}

/** Those of the file that is named; else those of the working folder, if `beside` says so and there are any. */
export function settingsOf(named: string | undefined, beside: "beside" | "only_named"): Settings {
  if (named !== undefined) return readSettings(named);
  return beside === "beside" && existsSync(SETTINGS_FILE) ? readSettings(SETTINGS_FILE) : NO_SETTINGS;
}
