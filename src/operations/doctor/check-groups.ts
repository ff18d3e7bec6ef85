import type { RunStatus } from "../../core/model/rows.js";
import { counted } from "../../core/text/amount-text.js";
import { oneLine } from "../../core/text/plain-text.js";
import { type GroupMember, holdersIn, queueOf } from "../../store/group-slots.js";
import { type Check, type Finding, ok, warning } from "./check.js";

const MAX_NAMED = 10;
/** Nothing happens to these until somebody does something. */
const AT_REST: ReadonlySet<RunStatus> = new Set(["held", "paused"]);

/** Groups in which runs wait for others that wait for a person. */
export const checkGroups: Check = {
  name: "groups",
  async run({ store, now }) {
    const groups = new Map<string, GroupMember[]>();
    for (const member of await store.readGroups(null, now())) {
      const { group } = member.concurrency;
      groups.set(group, [...(groups.get(group) ?? []), member]);
    }
    const findings = [...groups].flatMap(([group, members]) => findingOf(group, members));
    return findings.length > 0 ? findings : [ok("no run waits for one that waits for a person")];
  },
};

function findingOf(group: string, members: readonly GroupMember[]): Finding[] {
  const holders = holdersIn(members);
  const waiting = queueOf(members);
  if (waiting.length === 0 || holders.length === 0) return [];
  if (!holders.every(({ status }) => AT_REST.has(status))) return [];
  const [first] = holders;
  const which = holders.slice(0, MAX_NAMED).map(({ runId, status }) => `run ${runId} (${status})`);
  const has = holders.length === 1 ? "has the place" : "have all places";
  return [
    warning(
      `${counted(waiting.length, "run waits", "runs wait")} in the group ${oneLine(group)}: ${which.join(", ")} ${has}`,
      first!.status === "held"
        ? `Decide what it holds (\`daruma holds ${first!.runId}\`), or cancel it (\`daruma cancel ${first!.runId}\`): only its end frees the place.`
        : `Resume it (\`daruma resume ${first!.runId}\`), or cancel it (\`daruma cancel ${first!.runId}\`): only its end frees the place.`,
    ),
  ];
}
