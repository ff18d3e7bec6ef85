import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import type { Present } from "../../declare/declaration.js";
import { jobPlace } from "../../declare/typed-names.js";
import { tableLines } from "../../render/columns.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Comparison = OutputOf<"compare_attempts">;
type ComparedText = Comparison["texts"][number];
type Row = ComparedText["rows"][number];

/** How many rows a terminal shows; `--json` has all. */
const SHOWN_ROWS = 60;

/** Compares two attempts: first what they have in common, then what differs. */
export const compareAttempts: Present = async ({ args, input }, { out, options }, client) => {
  const asked = { ...jobPlace(args[0] as string[]), ...(input as Partial<InputOf<"compare_attempts">>) };
  const found = await client.call("compare_attempts", asked);
  if (options.json) writeJson(out, found);
  else
    writeLines(out, [
      `${nameOf(found.step, found.scope)} of run ${found.run_id}: attempt ${found.other} with attempt ${found.attempt}`,
      ...found.facts.map(
        ({ verdict, words, detail }) =>
          `  ${verdict === "differs" ? "differs:" : "same:   "} ${words}${detail === "" ? "" : ` (${oneLine(detail)})`}`,
      ),
      ...fieldLines(found, out.width()),
      ...found.texts.flatMap(textLines),
    ]);
  return 0;
};

function fieldLines({ fields, attempt, other }: Comparison, width: number): string[] {
  const rows = fields
    .filter(({ same }) => !same)
    .map(({ name, value, other: before }) => [name, oneLine(String(before)), oneLine(String(value))]);
  return rows.length === 0 ? [] : ["", ...tableLines(["error", `${other}`, `${attempt}`], rows, width)];
}

function textLines({ name, verdict, whole, rows, left_off }: ComparedText): string[] {
  if (verdict === "same") return [];
  const hidden = Math.max(0, rows.length - SHOWN_ROWS) + left_off;
  return [
    "",
    `${name}${whole ? "" : ", only the ends"}:`,
    ...rows.slice(0, SHOWN_ROWS).map(rowLine),
    ...(hidden === 0 ? [] : [`  and ${hidden} more lines; --json has the first 1,000`]),
  ];
}

function rowLine(row: Row): string {
  switch (row.kind) {
    case "same":
      return `   ${row.text}`;
    case "added":
      return ` + ${row.text}`;
    case "removed":
      return ` - ${row.text}`;
    case "masked":
      return ` ~ ${row.parts.map(({ text, other }) => (other === undefined ? text : `[${other} → ${text}]`)).join("")}`;
    case "skipped":
      return `   ... ${row.count === 1 ? "1 line" : `${row.count} lines`} the same`;
  }
}
