import { counted } from "../../core/text/amount-text.js";
import { readHealth, WORKERS } from "../../run/engine/health/health-rows.js";
import { iso } from "../../tell/run-report.js";
import { countsText, listPasses } from "../retention/retention-passes.js";
import { presentServers } from "../server/present-servers.js";
import { type Check, error, type Finding, ok, warning } from "./check.js";

export const checkServers: Check = {
  name: "servers",
  async run({ store, now }) {
    const servers = await presentServers(store, now());
    const [first, ...others] = servers;
    if (first === undefined) return [ok("no server uses this store at the moment")];
    const differing = others.filter(({ settings }) => settings !== first.settings);
    if (differing.length > 0)
      return [
        warning(
          `servers of this store have different settings: ${[first, ...differing].map(({ url }) => url).join(", ")}`,
          "Give them the same daruma.config.yaml, and restart those that have the old one.",
        ),
      ];
    return [ok(`${counted(servers.length, "server")}: ${servers.map(({ url }) => url).join(", ")}`)];
  },
};

export const checkWorkers: Check = {
  name: "workers",
  async run({ store, runner, now }) {
    const { rows, at } = await store.readShared(WORKERS, null, now());
    const findings: Finding[] = rows
      .filter((row) => readHealth(row).quarantine !== null)
      .map(({ name }) =>
        warning(
          `worker ${name} is in quarantine: jobs failed on it that others completed`,
          `Look at that machine. \`daruma workers\` shows the jobs, \`daruma workers release ${name}\` gives it work again.`,
        ),
      );
    const workers = runner?.listWorkers() ?? [];
    for (const { kind, reason, jobs } of runner?.listWaiting() ?? [])
      if (kind === "worker")
        findings.push(
          warning(
            `${counted(jobs, "job")} for which there is no worker: ${reason}`,
            "Start a worker that has what they need: docs/workers.md.",
          ),
        );
    if (findings.length > 0) return findings;
    if (runner === null) return [ok("without a server there are no workers")];
    return [ok(`${counted(workers.length, "worker")} at ${iso(at)}, none in quarantine`)];
  },
};

export const checkRetention: Check = {
  name: "retention",
  async run({ store, now }) {
    const passes = await listPasses(store, now());
    if (passes.length === 0) return [ok("no server removes old runs: nothing is set under `retention`")];
    return passes.map(({ host, at, removed, error: failed }) => {
      if (failed !== null)
        return error(
          `${host} could not remove old runs at ${iso(at)}: ${failed}`,
          "Mend what the message names; the server tries again every ten minutes.",
        );
      const what = removed === null ? null : countsText(removed);
      return ok(
        what === null
          ? `${host} looked at ${iso(at)}, and had nothing to remove yet`
          : `${host} looked at ${iso(at)}; it last removed ${what} at ${iso(removed!.at)}`,
      );
    });
  },
};
