import type { SecretPlace } from "../../../core/text/secret-place.js";
import { mapped, object, type Schema, union } from "../../read/schema.js";
import { text } from "../../read/schema-scalars.js";

/** The name of an environment variable, where somebody may be tempted to write its value. */
export const variable = text({
  expected: "the name of a variable",
  maxChars: 200,
  pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
  rule: "Give the name of an environment variable, not the secret itself; or `{ file: /path }`.",
});

/** Where a server finds a secret. The secret itself is in no file that Daruma reads as text. */
export const secret: Schema<SecretPlace, string | { readonly file: string }> = union(
  mapped(variable, (name): SecretPlace => ({ variable: name })),
  mapped(
    object({
      file: {
        schema: text({ pattern: /^\//, rule: "Write an absolute path." }),
        doc: "A file on the server that holds the secret and nothing else.",
        required: true,
      },
    }),
    ({ file = "" }): SecretPlace => ({ file }),
  ),
);
