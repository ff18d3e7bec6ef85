import { counted } from "../../core/text/amount-text.js";
import { isDead } from "../../store/lease-owner.js";
import { interruptedRunIds } from "../../tell/lookup/run-owner.js";
import { type Check, type Finding, ok, warning } from "./check.js";

const MAX_NAMED = 10;

export const checkLeases: Check = {
  name: "leases",
  async run({ store, runner }) {
    const findings: Finding[] = [];
    const owners = await store.listOwners();
    const dead = owners.filter(({ owner }) => isDead(owner));
    for (const { owner } of dead)
      findings.push(
        warning(
          `process ${owner.pid} on ${owner.host} is gone and still holds runs`,
          runner === null
            ? "A server takes its runs over at once: start one with `daruma serve`."
            : "A server takes its runs over within seconds; if this stays, look at the server's log.",
        ),
      );
    const interrupted = await interruptedRunIds(store);
    if (interrupted.length > 0) {
      const named = interrupted.slice(0, MAX_NAMED).join(", ");
      const more = interrupted.length > MAX_NAMED ? ", ..." : "";
      const managed = await store.readRun(interrupted[0]!);
      findings.push(
        warning(
          `${counted(interrupted.length, "run")} interrupted, with nobody to continue: ${named}${more}`,
          managed?.managed === true
            ? "Start a server (`daruma serve`); it continues them."
            : `Continue each with \`daruma resume RUN\`, or end it with \`daruma cancel RUN\`.`,
        ),
      );
    }
    const alive = owners.length - dead.length;
    return findings.length > 0
      ? findings
      : [ok(`${counted(alive, "process", "processes")} at work, nothing interrupted`)];
  },
};
