import { DarumaError } from "../../../core/errors/errors.js";
import type { Json } from "../../../core/text/json.js";

/** What a flag gives as JSON. What is nearly JSON is refused: as a text it would be of no use to later steps. */
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
