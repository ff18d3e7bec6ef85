import { aboutSize, counted } from "../../core/text/amount-text.js";
import type { StoreInspection } from "../../store/inspect/store-inspection.js";
import { isDead } from "../../store/lease-owner.js";
import { interruptedRunIds } from "../../tell/lookup/run-owner.js";
import type { InspectedStore } from "../context.js";
import { type Check, error, type Finding, ok, warning } from "./check.js";

type Trouble = NonNullable<InspectedStore["trouble"]>;

const LARGE_WAL_BYTES = 1024 ** 3;

export const checkStore: Check = {
  name: "store",
  async run(context, { full }) {
    const found = await context.inspectStore?.(full);
    if (found === undefined) return [ok("the store is not this process's to look at")];
    const { inspection, trouble, place } = found;
    if (inspection === null) {
      if (trouble === null) return [ok(`there is no database yet at ${place}; the first run makes it`)];
      return [troubleFinding(trouble, place)];
    }
    const findings = [
      ...versionFindings(inspection, place),
      ...damage(inspection, place),
      ...wal(inspection),
    ];
    if (trouble !== null) findings.push(troubleFinding(trouble, place));
    return findings;
  },
};

function troubleFinding({ message, hint }: Trouble, place: string): Finding {
  return error(message.includes(place) ? message : `${place}: ${message}`, hint);
}

function versionFindings(
  { kind, version, newestVersion, server, bytes, problems }: StoreInspection,
  place: string,
): Finding[] {
  const what =
    kind === "postgres"
      ? `${place}, server ${server}`
      : kind === "sqlite"
        ? `SQLite at ${place}`
        : "in memory";
  const size = bytes === null ? "" : `, ${aboutSize(bytes)}`;
  if (version === newestVersion) return [ok(`${what}, version ${version}${size}`)];
  if (version === null)
    return problems.length > 0
      ? []
      : [
          error(
            `${what} has no tables of Daruma`,
            "Check --store and --output-dir: another program may have made the file.",
          ),
        ];
  return [
    error(
      `${what} has version ${version}; this Daruma reads version ${newestVersion} alone`,
      "Open it with the Daruma that made it, or name another database: docs/upgrade.md.",
    ),
  ];
}

function damage({ checked, problems, bytes }: StoreInspection, place: string): Finding[] {
  if (problems.length > 0)
    return [
      error(
        `the database at ${place} is damaged: ${problems.join("; ")}`,
        "Stop everything that uses it, keep a copy, and restore a backup: docs/backup.md.",
      ),
    ];
  return checked ? [] : [ok(`its ${aboutSize(bytes ?? 0)} were not looked through; --full does that`)];
}

function wal({ walBytes }: StoreInspection): Finding[] {
  if (walBytes === null || walBytes < LARGE_WAL_BYTES) return [];
  return [
    warning(
      `its write-ahead log has grown to ${aboutSize(walBytes)}: some process has been reading for a long time`,
      "End commands that hang, such as an old `daruma watch` or sqlite3. The next commits shrink it.",
    ),
  ];
}

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
