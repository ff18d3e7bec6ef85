import { aboutSize } from "../../core/text/amount-text.js";
import type { StoreInspection } from "../../store/inspect/store-inspection.js";
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
