import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import type { SecretPlace } from "../../core/text/secret-place.js";
import { findSecret } from "../../tell/channels/find-secret.js";
import { secretProblem } from "../../tell/channels/secrets.js";
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
