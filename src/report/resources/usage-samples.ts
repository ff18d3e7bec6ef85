/** What the processes of an attempt had used by then; memory and their number are of that moment. */
export interface UsageSample {
  readonly ms: number;
  readonly processes: number;
  readonly memory_bytes: number;
  readonly cpu_ms: number;
  readonly read_bytes: number;
  readonly written_bytes: number;
}

const COLUMNS = ["ms", "processes", "memory_bytes", "cpu_ms", "read_bytes", "written_bytes"] as const;
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
