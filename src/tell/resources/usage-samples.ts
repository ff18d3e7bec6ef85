import { number, type OfFields } from "../../core/text/shape.js";
/** What the processes of an attempt had used by then; memory and their number are of that moment. */
export const USAGE_SAMPLE = {
  ...{ ms: number, processes: number, memory_bytes: number },
  ...{ cpu_ms: number, read_bytes: number, written_bytes: number },
} as const;
export type UsageSample = OfFields<typeof USAGE_SAMPLE>;

const COLUMNS = Object.keys(USAGE_SAMPLE);
/** More than a picture can show. */
const MAX_SAMPLES = 400;

/** At most so many, evenly chosen. A line that is not whole, because it is being written or was cut off, is left out. */
export function parseSamples(csv: string): UsageSample[] {
  const [header, ...lines] = csv.split("\n");
  if (header !== COLUMNS.join(",")) return [];
  lines.pop();
  const every = Math.ceil(lines.length / MAX_SAMPLES);
  return lines
    .filter((_, at) => at % every === 0 || at === lines.length - 1)
    .map((line) => line.split(",").map(Number))
    .filter(
      (values) =>
        values.length === COLUMNS.length &&
        values.every((value) => Number.isSafeInteger(value) && value >= 0),
    )
    .map(
      (values) =>
        Object.fromEntries(COLUMNS.map((column, at) => [column, values[at]!])) as unknown as UsageSample,
    );
}
