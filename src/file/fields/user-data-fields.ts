import { type Fields, listOf, located, locatedText } from "../read/schema.js";
import { boolean, json, text } from "../read/schema-scalars.js";
import { type Draft, draftOf } from "./draft.js";
import { FAMILY_FIELDS } from "./file-fields.js";

const MAX_NAME_CHARS = 1_000;

const USER_DATA_FIELDS = {
  name: {
    schema: locatedText(text({ expected: "a name", asWritten: true, maxChars: MAX_NAME_CHARS })),
    doc: "The name by which jobs refer to the value; with parameters a pattern such as `rate_{i}`.",
    required: true,
  },
  data: {
    schema: located(json()),
    doc: "The value until a job writes it: any JSON. Without it, a job must write the value first.",
  },
  is_ephemeral: {
    schema: boolean(),
    doc: "true: a fork does not take the value over; the job that writes it runs again.",
    default: false,
  },
  ...FAMILY_FIELDS,
} as const satisfies Fields;

/** A value of the batch form as it is written: one for all values of its parameters. */
export type UserDataDraft = Draft<typeof USER_DATA_FIELDS>;

export const userData = listOf(draftOf("user_data", USER_DATA_FIELDS), { items: "user data" });
