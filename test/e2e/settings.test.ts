import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

const CLUSTER = "clusters:\n  hpc: { type: slurm, tags: [batch] }\n";
const WORKFLOW = "steps:\n  big: { exec: echo ran, runs_on: [batch] }\n";

const NO_LIMITS = {
  ...{ requests_per_minute: null, runs_per_minute: null, streams_per_token: null },
  ...{ max_connections: null, max_parallel: null },
};

describe("daruma config check", () => {
  it("tells every problem with its place, and exits with 2", async () => {
    const file = cli.write(
      "bad.config.yaml",
      "clusters:\n  hpc:\n    type: slurm\n    partion: main\nchanels: {}\n",
    );
    const { exitCode, stderr } = await cli.daruma("config", "check", file);
    expect(stderr).toBe(`${file}:4:5 UNKNOWN_KEY unknown key \`partion\`, did you mean \`partition\`?
  hint: Rename it to \`partition\`.
${file}:5:1 UNKNOWN_KEY unknown key \`chanels\`, did you mean \`channels\`?
  hint: Rename it to \`channels\`.
2 errors
`);
    expect(exitCode).toBe(2);
  });

  it("says what a file sets that is right, and what DARUMA_CONFIG names", async () => {
    const file = cli.write("good.config.yaml", CLUSTER);
    expect(await cli.daruma("config", "check", file)).toMatchObject({
      exitCode: 0,
      stdout: `${file}: valid, 1 cluster\n  hpc (slurm), tags batch\n`,
    });
    const { stdout } = await cli.daruma("config", "check", "--config", file, "--json");
    expect(JSON.parse(stdout)).toEqual({
      ...{ ok: true, file, clusters: ["hpc"], breakers: [], channels: [], missing_secrets: [] },
      ...{ limits: NO_LIMITS, retention: { runs: null, logs: null, artifacts: null } },
    });
  });

  it("says which limits a file sets, and how long it keeps things", async () => {
    const text =
      "limits: { runs_per_minute: 60 }\nretention: { runs: { older_than: 90d, keep_last: 500, status: [completed] }, logs: { max_size: 20g } }\n";
    const file = cli.write("keep.config.yaml", text);
    expect((await cli.daruma("config", "check", file)).stdout).toBe(`${file}: valid, limits, retention
  at most 60 runs per minute
  runs are kept for 90 d, for the last 500 runs of each workflow (completed)
  logs are kept up to 20 GiB
`);
  });

  it("is shown to people in words and to programs as JSON, limits included", { tags: ["N13"] }, async () => {
    const file = cli.write(
      "shown.config.yaml",
      `${CLUSTER}breakers: { pay: {} }
limits: { runs_per_minute: 60, max_parallel: 0 }
retention: { logs: { max_size: 20g } }
channels: { chat: { type: slack, secret: SLACK_URL } }
notify: [{ on: held, to: chat }]
`,
    );
    expect((await cli.daruma("settings", "--config", file)).stdout).toBe(`clusters:
  hpc (slurm), tags batch
breakers:
  pay
limits:
  at most 60 runs per minute
  steps run on workers only
retention:
  logs are kept up to 20 GiB
channels:
  chat (slack), to Slack
notify:
  notifies chat of held
`);
    const { value } = await cli.json<{ limits: object }>("settings", "--config", file);
    expect(value.limits).toEqual({ ...NO_LIMITS, runs_per_minute: 60, max_parallel: 0 });
    expect((await cli.daruma("settings")).stdout).toBe("nothing is set\n");
  });

  it("is what a workflow's channels are checked against", { tags: ["N13"] }, async () => {
    const file = cli.write("named.config.yaml", "channels: { chat: { type: slack, secret: SLACK_URL } }\n");
    const flow = cli.write(
      "told.yaml",
      "name: told\nnotify: [{ on: held, to: chatt }]\nsteps: { a: { type: noop } }\n",
    );
    const checked = await cli.daruma("validate", flow, "--config", file);
    expect(checked.exitCode).toBe(0);
    expect(checked.stdout + checked.stderr).toContain("there is no channel `chatt`, did you mean `chat`?");
    expect((await cli.daruma("run", flow, "--config", file)).stderr).toContain("UNKNOWN_CHANNEL");
    const unknown = await cli.daruma("validate", flow);
    expect(unknown.stdout + unknown.stderr).not.toContain("UNKNOWN_CHANNEL");
  });

  it("tells a secret that is missing from a channel that does not answer", { tags: ["N12"] }, async () => {
    const file = cli.write("test.config.yaml", "channels: { chat: { type: slack, secret: NO_SUCH_URL } }\n");
    expect(await cli.daruma("notifications", "test", "chat", "--config", file)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("error CHANNEL_SECRET: the variable NO_SUCH_URL is empty or missing\n"),
    });
  });

  it("says where messages go and which secrets are missing, and never shows one", {
    tags: ["N13"],
  }, async () => {
    const file = cli.write(
      "channels.config.yaml",
      `channels:
  ops: { type: webhook, url: "https://example.com/hooks/x?y=z", secret: OPS_KEY }
  chat: { type: slack, secret: { file: ${join(cli.path, "slack-url")} } }
  mail: { type: email, host: mail.example.com, from: daruma@example.com, to: [a@example.com, b@example.com] }
notify:
  - { on: [held, failed], to: [ops, chat], when: notice.workflow === 'ci' }
`,
    );
    const checked = await cli.daruma("config", "check", file);
    expect(checked).toMatchObject({
      exitCode: 2,
      stdout: `${file}: valid, 3 channels, 1 rule
  ops (webhook), to example.com
  chat (slack), to Slack
  mail (email), to a@example.com, b@example.com
  notifies ops, chat of held, failed
  secret missing: channel ops: the variable OPS_KEY is empty or missing
  secret missing: channel chat: the file ${join(cli.path, "slack-url")} is empty or missing
`,
    });
    const check = (env: { [name: string]: string }, ...args: string[]) =>
      runCli(["config", "check", ...args, "--output-dir", cli.outputDir], env);
    const key = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    cli.write("slack-url", "https://hooks.slack.com/services/T/B/very-secret\n");
    const right = await check({ OPS_KEY: key }, file, "--json");
    expect(JSON.parse(right.stdout)).toMatchObject({ ok: true, missing_secrets: [] });
    expect(right.exitCode).toBe(0);
    const wrong = await check({ OPS_KEY: "hunter2-hunter2" }, file);
    expect(wrong.stdout).toContain("channel ops: the variable OPS_KEY is no key of Standard Webhooks\n");
    expect([wrong.exitCode, right.stdout + wrong.stdout + wrong.stderr]).toEqual([
      2,
      expect.not.stringMatching(/hunter2|very-secret/),
    ]);
  });

  it("says that an empty file sets nothing, and whoami who asks", async () => {
    const file = cli.write("empty.config.yaml", "breakers: {}\n");
    expect((await cli.daruma("config", "check", file)).stdout).toBe(`${file}: valid, nothing is set\n`);
    expect((await cli.daruma("whoami")).stdout).toBe("you are command line, with the role admin\n");
  });

  it("prints the schema for editors", async () => {
    const { stdout } = await cli.daruma("config", "schema");
    expect(JSON.parse(stdout)).toMatchObject({ title: "Daruma settings" });
  });
});

describe("daruma run with a settings file", () => {
  it("refuses a step that asks for a cluster, before anything has begun", async () => {
    const config = cli.write("run.config.yaml", CLUSTER);
    const file = cli.write("big.yaml", WORKFLOW);
    const { exitCode, stderr } = await cli.daruma("run", file, "--config", config);
    expect(stderr).toContain(
      "error CLUSTER_NEEDS_SERVER: step big asks for batch, which is the cluster hpc; daruma run uses no clusters\n",
    );
    expect(exitCode).toBe(2);
    expect((await cli.daruma("list", "--json")).stdout).not.toContain("big");
  });

  it("takes the file that is named instead of the one beside the workflow, and none with --no-config", {
    tags: ["N13"],
  }, async () => {
    cli.write("daruma.config.yaml", "no settings at all");
    const file = cli.write("plain.yaml", "steps: { a: { exec: 'true' } }\n");
    expect((await cli.daruma("run", file)).exitCode).toBe(2);
    expect((await cli.daruma("run", file, "--no-config")).exitCode).toBe(0);
    const broken = cli.write("broken.config.yaml", "clusters: 7\n");
    expect((await cli.daruma("run", file, "--config", broken)).stderr).toContain("WRONG_TYPE");
  });
});
