import {
  LABEL_KEY,
  LABEL_KEY_RULE,
  LABEL_VALUE,
  LABEL_VALUE_RULE,
  MAX_LABEL_VALUE_CHARS,
  MAX_LABELS,
} from "../../core/text/labels.js";
import { mapOf, type Schema } from "../read/schema.js";
import { type Scalar, scalarText } from "../read/schema-scalars.js";

const anyNumber = mapOf(
  scalarText({
    expected: "text",
    mayBeEmpty: true,
    maxChars: MAX_LABEL_VALUE_CHARS,
    pattern: LABEL_VALUE,
    rule: LABEL_VALUE_RULE,
  }),
  { keyPattern: LABEL_KEY, keyRule: LABEL_KEY_RULE },
);

export const labels: Schema<ReadonlyMap<string, string>, { readonly [key: string]: Scalar }> = {
  ...anyNumber,
  read(node, path, context) {
    const read = anyNumber.read(node, path, context);
    if (read !== undefined && read.size > MAX_LABELS)
      context.findings.error({
        code: "INVALID_VALUE",
        message: `${read.size} labels are more than ${MAX_LABELS}`,
        hint: "Keep those that you look for runs by.",
        at: node.at,
        path,
      });
    return read;
  },
  json: (definitions) => ({ ...anyNumber.json(definitions), maxProperties: MAX_LABELS }),
};
