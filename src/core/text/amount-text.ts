const SIZES = [
  ["TiB", 1024 ** 4],
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
] as const;
const TIMES = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** An amount of memory as it is asked for, exact: `1.5 GiB`, `768 MiB`, `1000 bytes`. */
export function sizeText(bytes: number): string {
  return inUnits(bytes, SIZES) ?? `${bytes} bytes`;
}

/** An amount of memory as it was measured: `12.3 MiB`. */
export function aboutSize(bytes: number): string {
  const [unit, size] = SIZES.find(([, unitSize]) => bytes >= unitSize) ?? ["bytes", 1];
  return `${Number((bytes / size).toFixed(1))} ${unit}`;
}

/** A duration as it is asked for, exact: `1.5 h`, `42 min`, `90 s`, `250 ms`. */
export function durationAmount(ms: number): string {
  return inUnits(ms, TIMES) ?? `${ms} ms`;
}

/** `1 file`, `2 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The amount in the largest unit that gives a multiple of one half. */
function inUnits(amount: number, units: readonly (readonly [string, number])[]): string | null {
  const fits = units.find(([, size]) => amount >= size && (amount * 2) % size === 0);
  return fits === undefined ? null : `${amount / fits[1]} ${fits[0]}`;
}
