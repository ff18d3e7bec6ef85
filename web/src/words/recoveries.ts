import type { RunDetails } from "./status.js";

type Route = RunDetails["routes"][number];

/** One rung that brought a step back. Its number is the same wherever it is shown. */
export interface Recovery {
  readonly number: number;
  readonly step: string;
  readonly scope: string;
  readonly rung: string;
  readonly to: string;
  /** Retries of one visit one after the other are one recovery. */
  readonly times: number;
  readonly reasons: readonly string[];
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly attempt: number;
}

export function recoveriesOf(routes: readonly Route[]): Recovery[] {
  const found: Recovery[] = [];
  for (const route of routes) {
    const last = found.findLast(({ step, scope }) => step === route.step && scope === route.scope);
    if (last !== undefined && last === found.at(-1) && last.rung === "retry" && route.rung === "retry") {
      found[found.length - 1] = {
        ...last,
        times: last.times + 1,
        reasons: [...last.reasons, route.reason],
        lastSeq: route.seq,
        attempt: route.attempt,
      };
      continue;
    }
    found.push({
      number: found.length + 1,
      step: route.step,
      scope: route.scope,
      rung: route.rung,
      to: route.to,
      times: 1,
      reasons: [route.reason],
      firstSeq: route.seq,
      lastSeq: route.seq,
      attempt: route.attempt,
    });
  }
  return found;
}

/** "deps retried twice", "build went back to codegen". */
export function recoveryWords({ rung, to, times }: Recovery): string {
  switch (rung) {
    case "restart":
      return "started again after its worker was lost";
    case "rule":
      return "answered by a rule";
    case "retry":
      return times === 1 ? "retried" : times === 2 ? "retried twice" : `retried ${times} times`;
    case "reset":
      return "started again from a clean workspace";
    case "remediate":
      return `repaired by ${to}`;
    case "goto":
      return `went back to ${to}`;
    case "edge":
      return `sent its failure to ${to}`;
    case "requeue":
      return "put back into the queue";
    case "park":
      return "parked until its breaker closes";
    default:
      return `${rung} to ${to}`;
  }
}
