// What was recorded, for each mode a list of sittings: what `--json` wrote each time, without the parts that were measured
// again since. A full run takes most of an hour, so it may be recorded part by part.
import { readFileSync, writeFileSync } from "node:fs";
import { PARTS } from "./sizes.mjs";

const RECORDED = new URL("recorded.json", import.meta.url);

export const readRecorded = () => JSON.parse(readFileSync(RECORDED, "utf8"));
export const writeRecorded = (recorded) => writeFileSync(RECORDED, asJson(recorded));

export function asJson(value) {
  // Six digits are more than any clock here can tell.
  const rounded = (_, item) => (typeof item === "number" ? Number(item.toPrecision(6)) : item);
  return `${JSON.stringify(value, rounded, 2)}\n`;
}

/** `recorded` with this sitting, whose parts replace what older sittings say of them. */
export function withSitting(recorded, sitting) {
  const again = new Set(sitting.parts.map(({ id }) => partOf(id)));
  const older = (recorded[sitting.mode] ?? [])
    .map((one) => ({ ...one, parts: one.parts.filter(({ id }) => !again.has(partOf(id))) }))
    .filter(({ parts }) => parts.length > 0);
  return { ...recorded, [sitting.mode]: [...older, sitting] };
}

/** Every table of these sittings in the order of the parts, with when it was measured and the load then. */
export function tablesOf(sittings) {
  return sittings
    .flatMap(({ parts, measured_at, load_per_core }) =>
      parts.map((part) => ({ measured_at, load_per_core, ...part })),
    )
    .sort((one, other) => PARTS.indexOf(partOf(one.id)) - PARTS.indexOf(partOf(other.id)));
}

/** The part that a table belongs to: its id begins with the part's name, `hand-over` with that of `handOver`. */
export const partOf = (id) => PARTS.find((part) => `${id}-`.startsWith(`${kebabCase(part)}-`));

const kebabCase = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
