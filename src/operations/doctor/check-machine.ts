import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { promisify } from "node:util";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import { messageOf } from "../../core/text/message-of.js";
import { secretOf } from "../../settings/channels.js";
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
    const { secrets, workspaces } = await needsOf(context);
    const findings: Finding[] = [];
    for (const [name, workflows] of secrets)
      if ((process.env[name] ?? "") === "")
        findings.push(
          warning(
            `the secret ${name} of ${list(workflows)} is not set in the environment of this process`,
            "Set it where runs are started: in the environment of the server, or of `daruma run`.",
          ),
        );
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
    const source = secretOf(channel);
    if (source === null) return [];
    const fix = "Nobody can be told by this channel until then; `daruma notifications test` tries it.";
    if ("variable" in source) {
      if ((process.env[source.variable] ?? "") !== "") return [];
      const what = `the secret ${source.variable} of the channel ${channel.name} is not set in the environment of this process`;
      return [warning(what, `Set it. ${fix}`)];
    }
    try {
      accessSync(source.file, constants.R_OK);
      return [];
    } catch (thrown) {
      const what = `the secret of the channel ${channel.name} cannot be read: ${messageOf(thrown)}`;
      return [warning(what, `Write the file, readable for this user. ${fix}`)];
    }
  });
}

async function needsOf({ store }: Context) {
  const secrets = new Map<string, string[]>();
  const workspaces: string[] = [];
  for (const { name, definition_hash } of await store.listWorkflows({ limit: MAX_WORKFLOWS })) {
    const text = await store.readDefinition(definition_hash);
    if (text === null) continue;
    const definition = parseStoredDefinition(text, name);
    for (const secret of definition.secrets) secrets.set(secret, [...(secrets.get(secret) ?? []), name]);
    if (definition.workspace !== null) workspaces.push(name);
  }
  return { secrets, workspaces };
}

function list(names: readonly string[]): string {
  const more = names.length - 3;
  return names.slice(0, 3).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
