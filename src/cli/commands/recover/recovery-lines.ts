import { amountText, type Raise } from "../../../core/model/resources.js";
import { counted } from "../../../core/text/amount-text.js";
import type { OutputOf } from "../../../operations/client.js";
import { listNames, nameOf } from "../../../tell/lookup/job-name.js";
import { alike } from "../../render/failed-steps.js";

export type Recovery = OutputOf<"recover_run">;
type Found = Recovery["jobs"][number];

const MAX_LINES = 20;
const INDENT = "  ";

/** What a recovery does, or would do, in lines. */
export function recoveryLines({ jobs, recovered, changed, dry_run }: Recovery): string[] {
  if (recovered === 0) return ["nothing can be recovered", ...foundLines(jobs)];
  const behind = changed.length - recovered;
  const all = counted(recovered, "job") + (behind > 0 ? ` and ${counted(behind, "dependent")}` : "");
  const run = changed.length === 1 ? "runs" : "run";
  return [`${all} ${dry_run ? "would run" : run} again`, ...foundLines(jobs)];
}

/** What becomes of the jobs, those together of which the same becomes for the same reason. `isOver`: nobody does it now. */
export function foundLines(jobs: readonly Found[], { isOver = false } = {}): string[] {
  const groups = alike(jobs, fate);
  const told = groups.slice(0, MAX_LINES).map((group) => groupLine(group, isOver));
  const more = groups.slice(MAX_LINES).flat().length;
  return more > 0 ? [...told, `${INDENT}… and ${more} more`] : told;
}

/** What is raised by an amount of its own is told together; what is raised to a limit names it. */
function fate({ code, recovers, raise, limit, explanation }: Found): string {
  const isOwn = raise !== null && raise.to !== limit?.amount;
  return JSON.stringify([code, recovers, isOwn ? raise.resource : explanation]);
}

function groupLine(group: readonly Found[], isOver: boolean): string {
  const { code, recovers, explanation } = group[0]!;
  const isOne = group.length === 1;
  const names = listNames(group, ({ step, scope }) => nameOf(step, scope));
  const run = isOver ? "would run" : isOne ? "runs" : "run";
  const fate = recovers ? `${run} again` : isOne ? "stays" : "stay";
  const isSame = group.every((each) => each.explanation === explanation);
  const why = isSame ? explanation : rangeText(group.flatMap(({ raise }) => raise ?? []));
  return `${INDENT}${names} (${code}): ${fate}: ${why}`;
}

/** `memory 64 MiB -> 122 MiB to 245 MiB`. */
function rangeText(raises: readonly Raise[]): string {
  const { resource } = raises[0]!;
  const range = (amounts: readonly number[]): string => {
    const [least, most] = [Math.min(...amounts), Math.max(...amounts)].map((each) =>
      amountText(resource, each),
    );
    return least === most ? least! : `${least} to ${most}`;
  };
  const before = raises.flatMap(({ from }) => from ?? []);
  const had = before.length === 0 ? "" : `${range(before)} -> `;
  return `${resource} ${had}${range(raises.map(({ to }) => to))}`;
}
