import { oneLine } from "../../../core/text/plain-text.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import type { OperationName } from "../../../operations/operations.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type ListName = {
  [Name in OperationName]: OutputOf<Name> extends { items: readonly object[] } ? Name : never;
}[OperationName];
type Item<Name extends ListName> = OutputOf<Name>["items"][number];

interface Look<Name extends ListName> {
  readonly none: string;
  readonly header: readonly string[];
  readonly row: (item: Item<Name>) => readonly (string | number | null)[];
}

/** Prints a list as a table; with --json its items. */
function listOf<Name extends ListName>(name: Name, { none, header, row }: Look<Name>): Present {
  return async ({ input }, { out, options }, client: Client) => {
    const { items } = (await client.call(name, input as InputOf<Name>)) as { items: Item<Name>[] };
    if (options.json) writeJson(out, items);
    else if (items.length === 0) writeLines(out, [none]);
    else {
      const rows = items.map((item) => row(item).map((cell) => oneLine(String(cell ?? ""))));
      writeLines(out, tableLines([...header], rows, out.width()));
    }
    return 0;
  };
}

export const jobs = listOf("list_jobs", {
  none: "no jobs",
  header: ["job", "run", "step", "status", "attempts", "error or what it waits for"],
  row: ({ id, run_id, step, scope, status, attempts, error, waits_for }) => [
    id,
    run_id,
    nameOf(step, scope),
    status,
    attempts,
    waits_for !== null ? waits_for.text : error === null ? "" : `${error.code}: ${error.message}`,
  ],
});

export const artifacts = listOf("list_artifacts", {
  none: "no artifacts",
  header: ["name", "bytes"],
  row: ({ name, bytes }) => [name, bytes],
});

export const handlers = listOf("list_failure_handlers", {
  none: "no failure handlers",
  header: ["id", "workflow", "name", "rules"],
  row: ({ id, workflow_id, name, rules }) => [id, workflow_id, name, rules],
});

export const workflows = listOf("list_workflows", {
  none: "no workflows",
  header: ["id", "name", "version", "created (UTC)", "from"],
  row: ({ id, name, version, created_at, published, file }) => [
    id,
    name,
    version,
    clockTime(created_at),
    published ? "published" : (file ?? "a run"),
  ],
});

export const drafts = listOf("list_drafts", {
  none: "no drafts",
  header: ["name", "revision", "saved (UTC)"],
  row: ({ name, revision, updated_at }) => [name, revision, clockTime(updated_at)],
});

export const tokens = listOf("list_tokens", {
  none: "no tokens",
  header: ["id", "name", "role", "created (UTC)", "expires (UTC)", "revoked (UTC)"],
  row: ({ id, name, role, created_at, expires_at, revoked_at }) => [
    id,
    name,
    role,
    clockTime(created_at),
    clockTime(expires_at),
    clockTime(revoked_at),
  ],
});
