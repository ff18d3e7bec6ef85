import { listOf } from "../read/schema.js";
import { text } from "../read/schema-scalars.js";

const origin = text({
  expected: "an origin such as `https://files.example.com`",
  pattern: /^https?:\/\/[^\s/?#@\\{}]+$/,
  rule: "Write the scheme and host, plus the port if it is not the default, and nothing after it.",
});

/** The field for everything that sends requests. */
export const redirectOriginsField = {
  schema: listOf(origin, { items: "origins", notEmpty: true }),
  doc: "Other origins that a redirect may send the request to unchanged: its headers, including credentials, and its body.",
} as const;
