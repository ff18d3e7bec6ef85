import type { RungConsidered } from "../../core/model/events.js";
import { number, type OfFields, text, word } from "../../core/text/shape.js";

/** What a climb said of one rung. */
export interface Considered {
  readonly rung: string;
  readonly applied: boolean;
  readonly kind?: string;
  readonly reason: string;
}

/** What became of one rung over all attempts that are summed up. */
export const RUNG_MARK = {
  rung: text,
  mark: word<"acted" | "hold" | "fail" | "spent" | "no" | "unset" | "unreached">(),
  times: number,
  reason: text,
} as const;
export type RungMark = OfFields<typeof RUNG_MARK>;

const SPENT: ReadonlySet<string> = new Set<NonNullable<RungConsidered["kind"]>>([
  "max_loops_used",
  "at_resource_limit",
  "no_restarts_left",
  "no_attempts_left",
  "no_retries_left",
  "no_resets_left",
  "no_remediation_left",
  "no_gotos_left",
  "no_rounds_left",
]);

/** Sums up climbs, oldest first, in the order of the engine's own table. */
export function marksOf(rungs: readonly string[], climbs: readonly (readonly Considered[])[]): RungMark[] {
  return rungs.map((rung) => {
    const seen = climbs.flatMap((climb) => climb.filter((one) => one.rung === rung));
    const times = seen.filter(({ applied }) => applied).length;
    const last = seen.at(-1);
    const reason = last?.reason ?? "not reached";
    if (times > 0) return { rung, times, reason, mark: rung === "hold" || rung === "fail" ? rung : "acted" };
    if (last === undefined) return { rung, times, reason, mark: "unreached" };
    if (isSpent(last)) return { rung, times, reason, mark: "spent" };
    return { rung, times, reason, mark: last.kind === "not_configured" ? "unset" : "no" };
  });
}

/** The rung would have acted, had it anything left. */
export function isSpent({ applied, kind }: Considered): boolean {
  return !applied && SPENT.has(kind ?? "");
}
