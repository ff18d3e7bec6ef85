import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import { createRedactor, type Secret, unredactable } from "../../core/redaction/redaction.js";
import type { Json } from "../../core/text/json.js";
import type { LlmProvider } from "../../file/fields/agent-fields.js";
import { checkModelPackages } from "../../run/action/llm-model.js";
import type { Workflow } from "./workflow.js";

/** Knows tokens by their form alone. */
const SHAPES_ONLY = createRedactor([]);

/** Every secret must be set, long enough to be found again in a text, and absent from what the run is given openly and from the file. */
export function checkSecrets(
  names: readonly string[],
  env: { readonly [name: string]: string | undefined },
  given: { readonly [name: string]: Json },
  /** The workflow as JSON, which the store keeps as it is. */
  definition: string,
): void {
  const secrets = names.map((name) => ({ name, value: env[name] ?? "" }));
  const missing = secrets.filter(({ value }) => value === "").map(({ name }) => name);
  if (missing.length > 0)
    throw new DarumaError("MISSING_SECRET", `not set in the environment: ${missing.join(", ")}`, {
      hint: {
        typed: `Set it, for example with \`export ${missing[0]}=...\`, and start the run again.`,
        asked: "Set it in the environment of the server, restart the server, and start the run again.",
      },
    });
  const short = unredactable(secrets).map(({ name }) => name);
  if (short.length > 0) {
    throw new DarumaError("MISSING_SECRET", `too short to be hidden in logs: ${short.join(", ")}`, {
      hint: "Use a longer secret.",
    });
  }
  const written = shownIn(definition, secrets);
  if (written.length > 0) {
    throw new DarumaError(
      "INVALID_VALUE",
      `the workflow itself contains the value of ${written.join(", ")}`,
      {
        hint: `Refer to it as an environment variable, \`$${written[0]}\`.`,
      },
    );
  }
  refuseVisibleSecrets(given);
  const shown = shownIn(JSON.stringify(given), secrets);
  if (shown.length > 0) {
    throw new DarumaError(
      "INVALID_INPUT",
      `an input, a label or the context contains the value of ${shown.join(", ")}`,
      {
        hint: "Steps get secrets from their environment; do not pass them as inputs.",
      },
    );
  }
}

/** Inputs are recorded openly: what looks like a password or token is not taken. */
export function refuseVisibleSecrets(given: { readonly [name: string]: Json }): void {
  if (JSON.stringify(SHAPES_ONLY.redactJson(given)) !== JSON.stringify(given)) {
    throw new DarumaError(
      "INVALID_INPUT",
      "an input, a label or the context contains what looks like a password or token",
      {
        hint: "Name it under `secrets:` and set it in the environment; inputs are stored in plain text.",
      },
    );
  }
}

/** A larger text is not kept beside its definition. */
const MAX_KEPT_CHARS = 1_000_000;

/** The text that a workflow was read from, if it may be kept as it is: a comment, too, may have a secret in it. Null: it is not kept. */
export function keptText(
  { written, definition }: Pick<Workflow, "written" | "definition">,
  env: { readonly [name: string]: string | undefined },
): string | null {
  if (written === undefined || written.length > MAX_KEPT_CHARS) return null;
  const secrets = definition.secrets.flatMap((name) => {
    const value = env[name] ?? "";
    return value === "" ? [] : [{ name, value }];
  });
  return createRedactor(secrets).redact(written) === written ? written : null;
}

function shownIn(json: string, secrets: readonly Secret[]): string[] {
  const text = json.toLowerCase();
  return secrets
    .filter(({ value }) => text.includes(JSON.stringify(value).slice(1, -1).toLowerCase()))
    .map(({ name }) => name);
}

/** Before a run of this process begins: not after an hour of other steps. Throws PACKAGE_MISSING. */
export function checkPackages({ steps }: Definition): void {
  for (const { action } of steps)
    if (action.type === "llm_call") checkModelPackages(action.provider as LlmProvider);
}
