import { DarumaError } from "../core/errors.js";
import type { Json } from "../core/json.js";
import { unredactable } from "../core/redaction.js";

/** Every secret must be set, long enough to be found again in a text, and absent from what the run is given openly. */
export function checkSecrets(
  names: readonly string[],
  env: { readonly [name: string]: string | undefined },
  given: { readonly [name: string]: Json },
): void {
  const secrets = names.map((name) => ({ name, value: env[name] ?? "" }));
  const missing = secrets.filter(({ value }) => value === "").map(({ name }) => name);
  if (missing.length > 0)
    throw new DarumaError("MISSING_SECRET", `not set in the environment: ${missing.join(", ")}`);
  const short = unredactable(secrets).map(({ name }) => name);
  if (short.length > 0) {
    throw new DarumaError("MISSING_SECRET", `too short to be hidden in logs: ${short.join(", ")}`, {
      hint: "Use a longer secret.",
    });
  }
  const text = JSON.stringify(given).toLowerCase();
  const shown = secrets.filter(({ value }) =>
    text.includes(JSON.stringify(value).slice(1, -1).toLowerCase()),
  );
  if (shown.length > 0) {
    throw new DarumaError(
      "INVALID_INPUT",
      `an input or the context holds the value of ${shown.map(({ name }) => name).join(", ")}`,
      {
        hint: "Steps get secrets from their environment; do not pass them as inputs.",
      },
    );
  }
}
