import { DarumaError } from "../../../core/errors/errors.js";
import type { Json } from "../../../core/text/json.js";

/**
 * Reads a flag's value, which may be JSON or plain text. Text that is almost JSON is refused, because later steps could
 * not use it.
 */
export function givenJson(flag: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new DarumaError("USAGE", `${flag}: invalid JSON: ${(error as Error).message}`, {
      hint: `Write a JSON value, such as ${flag} '{"version": 7}' or ${flag} '"done"'.`,
      cause: error,
    });
  }
}
