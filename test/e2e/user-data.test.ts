import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";
import { LiveWorker } from "../support/live-worker.js";

const cli = new CliFolder();

const SWEEP = `
name: sweep
user_data:
  - { name: settings, data: { rate: 2 } }
  - { name: "score_{i}", parameters: { i: "1:3" } }
  - { name: best }
jobs:
  - name: "train_{i}"
    parameters: { i: "1:3" }
    input_user_data: [settings]
    output_user_data: ["score_{i}"]
    command: >-
      node -e 'const d = JSON.parse(require("fs").readFileSync(process.env.DARUMA_USER_DATA_IN));
      require("fs").writeFileSync(process.env.DARUMA_USER_DATA_OUT, JSON.stringify({ score_{i}: {i} * d.settings.rate }))'
  - name: pick
    input_user_data_regexes: ["^score_"]
    output_user_data: [best]
    command: >-
      node -e 'const d = JSON.parse(require("fs").readFileSync(process.env.DARUMA_USER_DATA_IN));
      require("fs").writeFileSync(process.env.DARUMA_USER_DATA_OUT, JSON.stringify({ best: Math.max(...Object.values(d)) }))'
  - { name: tell, input_user_data: [best], command: 'cat "$DARUMA_USER_DATA_IN"' }
`;

describe("user data, by the command line", () => {
  it("travels from job to job, and is shown with the attempt that wrote it", async () => {
    const { exitCode, report } = await cli.runJson(SWEEP);
    expect(exitCode).toBe(0);
    expect(report.jobs.find(({ step }) => step === "tell")!.output).toEqual({ best: 6 });
    const { value } = await cli.json<{ attempt_history: { user_data: unknown }[] }>(
      ...["job", "show", String(report.run_id), "pick"],
    );
    expect(value.attempt_history[0]!.user_data).toEqual({ best: 6 });
  });

  it.each([
    ["true", "OUTPUT_MISSING", "the job ended without writing the user data v to $DARUMA_USER_DATA_OUT"],
    ["echo '{' > $DARUMA_USER_DATA_OUT", "OUTPUT_INVALID", "$DARUMA_USER_DATA_OUT: not valid JSON"],
    ["echo '[1]' > $DARUMA_USER_DATA_OUT", "OUTPUT_INVALID", "$DARUMA_USER_DATA_OUT: not a JSON object"],
    ["mkfifo $DARUMA_USER_DATA_OUT", "OUTPUT_INVALID", "$DARUMA_USER_DATA_OUT: not a regular file"],
    [
      `printf '{"v":"%065536d"}' 1 > $DARUMA_USER_DATA_OUT`,
      "OUTPUT_INVALID",
      "$DARUMA_USER_DATA_OUT: larger than 65536 bytes; write a file, and name it in `files`",
    ],
  ])("that cannot be taken is a failure: %s", async (command, code, message) => {
    const { exitCode, report } = await cli.runJson(`
name: bad
unhandled: fail
user_data: [{ name: v }]
jobs: [{ name: a, command: ${JSON.stringify(command)}, output_user_data: [v] }]
`);
    expect(exitCode).toBe(1);
    expect(report.jobs[0]!.error).toMatchObject({ code, message });
  });

  it("has no secrets on record, and none left lying about", async () => {
    process.env.USER_DATA_SECRET = "hunter2-hunter2";
    const { report } = await cli.runJson(`
name: secret
secrets: [USER_DATA_SECRET]
user_data: [{ name: v }]
jobs:
  - { name: a, command: 'printf ''{"v":["%s"]}'' "$USER_DATA_SECRET" > "$DARUMA_USER_DATA_OUT"; echo "$DARUMA_USER_DATA_OUT"', output_user_data: [v] }
  - { name: b, command: 'cat "$DARUMA_USER_DATA_IN"', input_user_data: [v] }
`);
    const [a, b] = report.jobs;
    expect(b!.output).toEqual({ v: ["[redacted:USER_DATA_SECRET]"] });
    expect(() => readFileSync(String(a!.output))).toThrow("ENOENT");
    expect(readdirSync(cli.path).filter((name) => name.includes("user-data"))).toEqual([]);
  });

  it("is taken over by a fork, but not what is ephemeral: who writes that runs again", async () => {
    const { report } = await cli.runJson(`
name: forked
user_data: [{ name: kept }, { name: token, is_ephemeral: true }]
jobs:
  - { name: keep, command: 'echo ran >> keep.txt; echo "{\\"kept\\":$$}" > "$DARUMA_USER_DATA_OUT"', output_user_data: [kept] }
  - { name: login, command: 'echo ran >> login.txt; echo "{\\"token\\":$$}" > "$DARUMA_USER_DATA_OUT"', output_user_data: [token] }
  - { name: use, command: 'cat "$DARUMA_USER_DATA_IN"', input_user_data: [kept, token] }
  - { name: last, command: 'cat "$DARUMA_USER_DATA_IN"', input_user_data: [kept, token], depends_on: use }
`);
    const first = report.jobs[3]!.output as { kept: number; token: number };
    const { stdout } = await cli.daruma("fork", String(report.run_id), "--from", "last", "--json");
    const fork = JSON.parse(stdout) as typeof report;
    const second = fork.jobs[3]!.output as { kept: number; token: number };
    expect(second.kept).toBe(first.kept);
    expect(second.token).not.toBe(first.token);
    const lines = (name: string) => readFileSync(join(cli.path, name), "utf8").split("\n").length - 1;
    expect([lines("keep.txt"), lines("login.txt")]).toEqual([1, 2]);
  });
});

describe("user data, on workers of other machines", () => {
  const servers = new LiveServers();
  let worker: LiveWorker | null = null;
  afterAll(() => worker?.end());

  it("travels through their protocol", async () => {
    const server: LiveServer = await servers.start({ maxParallel: 0 });
    worker = new LiveWorker(cli.path, { servers: [server.url], slots: 2 });
    const run = await server.run(SWEEP);
    expect(await server.until(run, "completed", "held", "failed")).toBe("completed");
    const job = await server.running.store.readJob(await server.job(run, "tell"));
    expect(job!.output).toEqual({ kind: "value", value: { best: 6 } });
  });
});
