import type { InputOf, OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/declaration.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Comparison = OutputOf<"compare_versions">;

const MARKS = { same: " ", removed: "-", added: "+", skipped: "@" } as const;
const COLOURS = { same: null, removed: "red", added: "green", skipped: "dim" } as const;
const MAX_CHARS = 1_000;

export const compareVersions: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("compare_versions", input as InputOf<"compare_versions">);
  if (options.json) {
    writeJson(out, found);
    return 0;
  }
  const lines = (found.lines ?? []).map(({ kind, text }) => {
    const line = `${MARKS[kind]} ${text.slice(0, MAX_CHARS)}`;
    const colour = COLOURS[kind];
    return colour === null ? line : out.paint(colour, line);
  });
  const more = found.left_off === 0 ? [] : [`${found.left_off} more lines: --json`];
  writeLines(out, [...headLines(found), ...lines, ...more]);
  return 0;
};

function headLines({ name, from, to, definition, lines }: Comparison): string[] {
  const word = (which: Comparison["from"]): string => (which === "draft" ? "the draft" : `version ${which}`);
  const head = `${name}: from ${word(from)} to ${word(to)}`;
  if (definition === null) return [head, "the draft has problems: daruma workflow check shows them"];
  const { keys, steps } = definition;
  const changes = [
    ...(keys.length === 0 ? [] : [`  workflow: ${keys.join(", ")}`]),
    ...steps.map(
      ({ step, change, keys: of }) => `  ${step}: ${change === "changed" ? of.join(", ") : change}`,
    ),
  ];
  return [
    head,
    ...(changes.length === 0 ? ["  nothing that a run would notice"] : changes),
    ...(lines === null ? ["  a run registered a version, without its text: no lines to compare"] : []),
  ];
}
