import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { statfs, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import { aboutSize, durationAmount } from "../../core/text/amount-text.js";
import { messageOf } from "../../core/text/message-of.js";
import type { SecretPlace } from "../../core/text/secret-place.js";
import { stuckLeftovers } from "../../run/worker/scratch-folder.js";
import { findSecret } from "../../tell/channels/find-secret.js";
import { secretProblem } from "../../tell/channels/secrets.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { type Check, error, type Finding, ok, warning } from "./check.js";

const PROGRAM_TIMEOUT_MS = 10_000;
const MAX_WORKFLOWS = 200;
const run = promisify(execFile);

export const checkVersions: Check = {
  name: "versions",
  run: ({ version }) => [
    ok(
      `Daruma ${version ?? "(as a library)"}, Node ${process.versions.node}, ${process.platform} ${process.arch}`,
    ),
  ],
};

export const checkSettings: Check = {
  name: "settings",
  async run({ describeSettings }) {
    const found = await describeSettings?.();
    if (found === undefined || found.file === null) return [ok("no settings file is in use")];
    if (found.problem === null) return [ok(`${found.file} is valid`)];
    return [
      error(
        `${found.file} cannot be used: ${found.problem}`,
        `\`daruma config check ${found.file}\` lists every problem with its place.`,
      ),
    ];
  },
};

/** What the newest version of each workflow asks of the machine that runs it. */
export const checkNeeds: Check = {
  name: "needs",
  async run(context) {
    const { secrets, hooks, workspaces } = await needsOf(context);
    const findings: Finding[] = [];
    for (const [name, workflows] of secrets)
      if ((process.env[name] ?? "") === "")
        findings.push(
          warning(
            `the secret ${name} of ${list(workflows)} is not set in the environment of this process`,
            "Set it where runs are started: in the environment of the server, or of `daruma run`.",
          ),
        );
    for (const [name, place] of hooks) {
      const found = findSecret(place, process.env);
      if ("problem" in found)
        findings.push(
          warning(
            `the secret of the webhook of ${name} cannot be used: ${found.problem}`,
            "Set the variable, or write the file, where the server runs. It refuses every request until then.",
          ),
        );
    }
    findings.push(...channelSecrets(context));
    const git = await run("git", ["--version"], { timeout: PROGRAM_TIMEOUT_MS }).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    );
    if (git === null && workspaces.length > 0)
      findings.push(
        error(
          `there is no git, and ${list(workspaces)} ${workspaces.length === 1 ? "has" : "have"} a workspace`,
          "Install git and make sure that it is in PATH.",
        ),
      );
    if (findings.length > 0) return findings;
    return [ok(git ?? "no git, and no workflow needs it")];
  },
};

/** Looked for where they will be looked for when a message is to go out. */
function channelSecrets({ channels }: Context): Finding[] {
  return (channels?.settings ?? []).flatMap((channel): Finding[] => {
    const problem = secretProblem(channel, process.env);
    if (problem === null) return [];
    return [
      warning(
        `the secret of the channel ${channel.name} cannot be used: ${problem}`,
        "Set the variable, or write the file. Nobody can be told by this channel until then; `daruma notifications test` tries it.",
      ),
    ];
  });
}

async function needsOf({ store }: Context) {
  const secrets = new Map<string, string[]>();
  const hooks = new Map<string, SecretPlace>();
  const workspaces: string[] = [];
  for (const { name, definition_hash } of await store.listWorkflows({ limit: MAX_WORKFLOWS })) {
    const text = await store.readDefinition(definition_hash);
    if (text === null) continue;
    const definition = parseStoredDefinition(text, name);
    for (const secret of definition.secrets) secrets.set(secret, [...(secrets.get(secret) ?? []), name]);
    if (definition.webhook !== undefined) hooks.set(name, definition.webhook.secret);
    if (definition.workspace !== null) workspaces.push(name);
  }
  return { secrets, hooks, workspaces };
}

function list(names: readonly string[]): string {
  const more = names.length - 3;
  return names.slice(0, 3).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

const LITTLE_BYTES = 1024 ** 3;
const ALMOST_NO_BYTES = 100 * 1024 ** 2;
const LITTLE_SHARE = 0.05;
const FEW_FILES_SHARE = 0.01;
/** Numbers that the kernel gives to file systems of other machines. SQLite needs locks and shared memory. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
]);
const FREE_IT =
  "Make room, or let the server remove what is old: docs/retention.md. `daruma prune --older-than 30d --dry-run` shows what could go.";

export const checkDisk: Check = {
  name: "disk",
  async run({ outputDir, inspectStore }) {
    const folder = nearestFolder(outputDir);
    const findings = [...(await space(folder)), ...(await writable(outputDir, folder))];
    const place = (await inspectStore?.(false))?.place;
    if (place?.startsWith("/") !== true) return findings;
    const holder = nearestFolder(dirname(place));
    const network = NETWORK_FILE_SYSTEMS.get((await statfs(holder)).type);
    if (network !== undefined)
      findings.push(
        warning(
          `the database ${place} is on ${network}, where SQLite can be damaged by two machines at once`,
          "Keep it on a local disk, or use PostgreSQL (--store postgres://...).",
        ),
      );
    return findings;
  },
};

async function space(folder: string): Promise<Finding[]> {
  const { bsize, bavail, blocks, ffree, files } = await statfs(folder);
  const free = bsize * bavail;
  const share = blocks === 0 ? 1 : bavail / blocks;
  const said = `${aboutSize(free)} free for ${folder}`;
  if (files > 0 && ffree / files < FEW_FILES_SHARE)
    return [error(`the file system of ${folder} has room for only ${ffree} more files`, FREE_IT)];
  if (free < ALMOST_NO_BYTES) return [error(`only ${said}`, FREE_IT)];
  if (free < LITTLE_BYTES && share < LITTLE_SHARE) return [warning(`only ${said}`, FREE_IT)];
  return [ok(said)];
}

/** Tried, because neither modes nor free blocks say it: quotas, read-only mounts, other users. */
async function writable(outputDir: string, folder: string): Promise<Finding[]> {
  const file = join(folder, `.daruma-doctor-${process.pid}`);
  try {
    await writeFile(file, "x".repeat(4_096), { mode: 0o600 });
    return [];
  } catch (thrown) {
    return [
      error(
        `nothing can be written to ${outputDir}: ${messageOf(thrown)}`,
        "Check its owner, its mode, its mount and the room on its disk; or name another folder with --output-dir.",
      ),
    ];
  } finally {
    await unlink(file).catch(() => {});
  }
}

/** The folder itself, or the one in which it would be made. */
function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/** Two clocks that are looked at one after the other never say the same. */
const TOLERATED_MS = 5_000;
const SET_IT = "Set the clock, and keep it right with NTP (chrony or systemd-timesyncd).";

export const checkClock: Check = {
  name: "clock",
  async run({ store, now }) {
    const before = now();
    const { at } = await store.readShared("server", [], before);
    const after = now();
    const apart = at < before ? at - before : at > after ? at - after : 0;
    const [newest] = await store.listRuns({ limit: 1 });
    if (Math.abs(apart) > TOLERATED_MS)
      return [
        warning(
          `this machine's clock is ${durationAmount(Math.round(Math.abs(apart) / 1_000) * 1_000)} ${apart > 0 ? "behind" : "ahead of"} the store's`,
          SET_IT,
        ),
      ];
    if (newest !== undefined && newest.created_at > after + TOLERATED_MS)
      return [
        warning(
          `run ${newest.id} was made at ${iso(newest.created_at)}, which is in the future: the clock was set back`,
          SET_IT,
        ),
      ];
    return [ok(`${iso(after)}, as the store has it`)];
  },
};

const MAX_NAMED = 10;

/** Raw outputs of steps lie here: no run minds them, but they take room, and nobody has hidden secrets in them. */
export const checkScratch: Check = {
  name: "scratch",
  async run() {
    const stuck = await stuckLeftovers();
    if (stuck.length === 0) return [ok(`nothing that could not be removed is left in ${tmpdir()}`)];
    const some = stuck.slice(0, MAX_NAMED).join(" ");
    const more = stuck.length > MAX_NAMED ? ` and ${stuck.length - MAX_NAMED} more` : "";
    return [
      warning(
        `processes that were killed have left what could not be removed: ${some}${more}`,
        `Remove it by hand: \`chmod -R u+rwX FOLDER; rm -rf FOLDER\`. It may hold outputs of steps in which secrets are not hidden.`,
      ),
    ];
  },
};
