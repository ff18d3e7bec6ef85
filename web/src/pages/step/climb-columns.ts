import type { Considered } from "../../../../src/tell/words/rung-marks.js";

/** How the ladder answered one attempt. */
export interface Column {
  readonly attempt: number;
  readonly rung: string;
  readonly considered: readonly Considered[];
}

/** More do not fit beside the reasons. */
const MAX_COLUMNS = 8;

/** The last attempts, or those up to the chosen one if it is further back. */
export function climbColumns(
  climbs: readonly Column[],
  chosen: number | null,
  most = MAX_COLUMNS,
): { readonly columns: readonly Column[]; readonly leftOff: number } {
  const place = climbs.findIndex(({ attempt }) => attempt === chosen);
  const end = place < 0 ? climbs.length : Math.max(place + 1, Math.min(climbs.length, most));
  const last = place >= climbs.length - most ? climbs.length : end;
  const first = Math.max(0, last - most);
  return { columns: climbs.slice(first, last), leftOff: first };
}
