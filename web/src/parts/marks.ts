export interface Considered {
  readonly rung: string;
  readonly applied: boolean;
  readonly kind?: string;
  readonly reason: string;
}

/** What became of one rung over all attempts that are summed up. */
export interface RungMark {
  readonly rung: string;
  readonly mark: "acted" | "hold" | "fail" | "spent" | "no" | "unset" | "unreached";
  readonly times: number;
  readonly reason: string;
}

const SPENT = /^no_\w+_left$|^max_loops_used$|^at_resource_limit$/;

/** Sums up climbs, oldest first, in the order of the engine's own table. */
export function marksOf(rungs: readonly string[], climbs: readonly (readonly Considered[])[]): RungMark[] {
  return rungs.map((rung) => {
    const seen = climbs.flatMap((climb) => climb.filter((one) => one.rung === rung));
    const times = seen.filter(({ applied }) => applied).length;
    const last = seen.at(-1);
    const reason = last?.reason ?? "not reached";
    if (times > 0) return { rung, times, reason, mark: rung === "hold" || rung === "fail" ? rung : "acted" };
    if (last === undefined) return { rung, times, reason, mark: "unreached" };
    if (SPENT.test(last.kind ?? "")) return { rung, times, reason, mark: "spent" };
    return { rung, times, reason, mark: last.kind === "not_configured" ? "unset" : "no" };
  });
}
