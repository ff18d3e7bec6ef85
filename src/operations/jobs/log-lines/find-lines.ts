import { z } from "zod";
import type { Answer } from "../../operation.js";
import { withLines } from "./line-indexes.js";
import { spanOf } from "./line-span.js";
import { lineItem, readLines } from "./read-lines.js";
import { searchLines } from "./search-lines.js";

export const foundLines = z
  .object({
    items: z.array(lineItem),
    next_line: z.number().nullable().describe("Where to go on; null: that was all."),
    total: z.number().describe("The lines of the file."),
    complete: z.boolean().describe("False: only a part of the file was read so far; ask again."),
    error_lines: z.array(z.number()).describe("The first lines that look like errors; none in a search."),
    error_count: z.number(),
  })
  .describe("Null where neither `lines` nor `grep` is given.");

export interface LineRequest {
  readonly lines: string | undefined;
  readonly grep: string | undefined;
  readonly regex: boolean;
  readonly limitBytes: number;
}

const NOTHING: Answer<typeof foundLines> = {
  items: [],
  next_line: null,
  total: 0,
  complete: true,
  error_lines: [],
  error_count: 0,
};

/** Lines of a log by their numbers, or those that a search finds among them. */
export async function findLines(
  path: string,
  { lines, grep, regex, limitBytes }: LineRequest,
): Promise<Answer<typeof foundLines>> {
  const found = await withLines(path, async (indexed) => {
    const { total, complete, errorLines, errorCount } = indexed.facts;
    const span = { ...spanOf(lines ?? "1:", total), limitBytes };
    const { items, nextLine } =
      grep === undefined
        ? await readLines(indexed, span)
        : await searchLines(indexed, { ...span, grep, regex });
    const error_lines = grep === undefined ? errorLines : [];
    return { items, next_line: nextLine, total, complete, error_lines, error_count: errorCount };
  });
  return found ?? NOTHING;
}
