import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/declaration.js";
import { clockTime } from "../../render/clock-time.js";
import { writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { channelLines, clusterLines, limitLines, notifyLines, retentionLines } from "./settings-lines.js";

type Shown = OutputOf<"get_settings">;

export const settings: Present = async (_given, { out, options }, client) => {
  const shown = await client.call("get_settings", {});
  if (options.json) writeJson(out, shown);
  else writeLines(out, settingsLines(shown));
  return 0;
};

function settingsLines(shown: Shown): string[] {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ["clusters", clusterLines(shown.clusters)],
    ["breakers", shown.breakers.map((name) => `  ${name}`)],
    ["limits", limitLines(shown.limits)],
    ["retention", retentionLines(shown.retention)],
    ["channels", channelLines(shown.channels)],
    ["notify", notifyLines(shown.notify)],
    ["servers", shown.servers.map(serverLine)],
  ];
  const set = parts.filter(([, lines]) => lines.length > 0);
  if (set.length === 0) return ["nothing is set"];
  return [...set.flatMap(([heading, lines]) => [`${heading}:`, ...lines])];
}

function serverLine({ url, host, pid, seen_at }: Shown["servers"][number]): string {
  return `  ${url} (process ${pid} on ${host}), last seen ${clockTime(seen_at)} UTC`;
}

type Checked = OutputOf<"check_health">["checks"][number];

const MARKS = { ok: ["green", "ok"], warning: ["yellow", "warning"], error: ["red", "error"] } as const;

/** Checks the installation. The exit code is 1 if something is wrong; warnings do not count. */
export const doctor: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("check_health", input as InputOf<"check_health">);
  const told = (check: Checked): string[] => {
    const [color, mark] = MARKS[check.status];
    const line = `${out.paint(color, mark)} ${check.name}: ${check.message}`;
    return check.fix === null ? [line] : [line, `  fix: ${check.fix}`];
  };
  if (options.json) writeJson(out, answer);
  else
    writeLines(out, [
      ...answer.checks.filter(({ status }) => !options.quiet || status !== "ok").flatMap(told),
      ...(options.quiet ? [] : [summary(answer)]),
    ]);
  return answer.status === "error" ? EXIT.failed : EXIT.completed;
};

function summary({ checks }: OutputOf<"check_health">): string {
  const count = (status: Checked["status"]): number =>
    checks.filter((check) => check.status === status).length;
  const [errors, warnings] = [count("error"), count("warning")];
  if (errors + warnings === 0) return "everything is in order";
  return `${errors} ${errors === 1 ? "error" : "errors"}, ${warnings} ${warnings === 1 ? "warning" : "warnings"}`;
}

/** Prints only the token to stdout, so that a script can read it. It cannot be shown again. */
export const createToken: Present = async ({ input }, { out, err, options }, client) => {
  const made = await client.call("create_token", input as InputOf<"create_token">);
  if (options.json) writeJson(out, made);
  else {
    const until = made.expires_at === null ? "" : ` until ${made.expires_at}`;
    if (!options.quiet)
      writeLines(err, [`token ${made.id} of ${made.name}, ${made.role}${until}; it is shown only once:`]);
    writeLines(out, [made.token]);
  }
  return 0;
};

export const revokeToken: Present = async ({ input }, { out, options }, client) => {
  const { id, revoked } = await client.call("revoke_token", input as InputOf<"revoke_token">);
  if (options.json) writeJson(out, { id, revoked });
  else if (!options.quiet)
    writeLines(out, [revoked ? `token ${id} is revoked` : `token ${id} was already revoked`]);
  return 0;
};

export const whoami: Present = async (_given, { out, options }, client) => {
  const { name, role } = await client.call("whoami", {});
  if (options.json) writeJson(out, { name, role });
  else writeLines(out, [`you are ${oneLine(name)}, with the role ${role}`]);
  return 0;
};
