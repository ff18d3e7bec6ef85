import { listOf } from "../read/schema.js";
import { text } from "../read/schema-scalars.js";

const origin = text({
  expected: "an origin such as `https://files.example.com`",
  pattern: /^https?:\/\/[^\s/?#@\\{}]+$/,
  rule: "Write scheme and host, with the port if it is not the usual one, and nothing after it.",
});

/** The same for everything that sends requests. */
export const redirectOriginsField = {
  schema: listOf(origin, { items: "origins", notEmpty: true }),
  doc: "Other origins to which a redirect may take the request as it is: its headers, credentials included, and its body.",
} as const;
