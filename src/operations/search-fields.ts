import { z } from "zod";
import { SIGNATURE_VERSION } from "../core/failure/signature.js";
import { LABEL_KEY } from "../core/text/labels.js";
import { searchText } from "../core/text/search-text.js";
import type { RunFilter, SoughtLabel } from "../store/filters.js";
import { parseMoment } from "./moment.js";
import { listOf } from "./schemas.js";

const MAX_TEXT_CHARS = 200;
const MAX_MOMENT_CHARS = 40;
const MAX_SOUGHT_LABELS = 32;
/** A signature as it is shown, or its beginning. The version may be missing. */
const SIGNATURE = /^(?:v\d{1,4}:)?[0-9a-f]{4,64}$/;

const moment = z
  .string()
  .max(MAX_MOMENT_CHARS)
  .refine(
    (text) => parseMoment(text, 0) !== null,
    "must be a time such as 2026-03-01, 2026-03-01T12:30Z, 2h (ago), today or yesterday",
  );

const label = z
  .string()
  .max(300)
  .refine((text) => LABEL_KEY.test(text.split("=", 1)[0]!), "must be a label such as team=core, or its key");

/** What runs, and jobs by their runs, are looked for by. */
export const searchFields = {
  since: moment.optional().describe("Only runs created since: an ISO time, 2h (ago), today, yesterday."),
  until: moment.optional().describe("Only runs created until then; a day is included."),
  label: listOf(label)
    .refine((labels) => labels.length <= MAX_SOUGHT_LABELS, `must be at most ${MAX_SOUGHT_LABELS} labels`)
    .optional()
    .describe("Only runs with these labels: key=value or key, separated by commas."),
  signature: z
    .string()
    .refine(
      (text) => SIGNATURE.test(text),
      "must be a signature as errors show it, or its first characters, at least 4",
    )
    .optional()
    .describe("Only if an attempt failed with this signature, or one that begins with it."),
};

export const textField = z.string().trim().min(1).max(MAX_TEXT_CHARS).optional();

interface Search {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly label?: readonly string[] | undefined;
  readonly text?: string | undefined;
  readonly signature?: string | undefined;
  readonly workflow?: string | undefined;
}

/** The search in the form of the store's filter. */
export function searchOf(
  { since, until, label, text, signature, workflow }: Search,
  now: number,
): Pick<RunFilter, "since" | "until" | "labels" | "text" | "signature" | "workflow"> {
  return {
    ...(since === undefined ? {} : { since: parseMoment(since, now)!.from }),
    ...(until === undefined ? {} : { until: parseMoment(until, now)!.to }),
    ...(label === undefined ? {} : { labels: label.map(soughtLabel) }),
    ...(text === undefined ? {} : { text: searchText(text) }),
    ...(signature === undefined
      ? {}
      : { signature: signature.includes(":") ? signature : `${SIGNATURE_VERSION}:${signature}` }),
    ...(workflow === undefined ? {} : { workflow }),
  };
}

function soughtLabel(text: string): SoughtLabel {
  const at = text.indexOf("=");
  return at < 0 ? { key: text, value: null } : { key: text.slice(0, at), value: text.slice(at + 1) };
}
