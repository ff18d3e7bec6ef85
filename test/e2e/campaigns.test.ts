import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliResult, runCli } from "../support/cli.js";
import { CliFolder, type Report, RunningCli } from "../support/cli-folder.js";
import { eventually } from "../support/daruma-process.js";

const cli = new CliFolder();
let server: RunningCli;
let url = "";

const there = (...args: string[]): Promise<CliResult> => runCli([...args, "--server", url]);
const jsonOf = async <T>(...args: string[]): Promise<T> =>
  JSON.parse((await there(...args, "--json")).stdout) as T;

/** Fails with words of its own until it is repaired. */
const failing = (name: string, ...keys: string[]): string =>
  `name: ${name}\n${keys.join("\n")}\nsteps: { call: { exec: 'test -e ${join(cli.path, name)} || { echo "no ${name}" >&2; exit 3; }' } }\n`;
const repair = (name: string): void => writeFileSync(join(cli.path, name), "");

async function failedRuns(name: string, count: number, ...keys: string[]): Promise<number[]> {
  const file = cli.write(`${name}.yaml`, failing(name, ...keys));
  const runs: number[] = [];
  for (let n = 0; n < count; n += 1) runs.push((await jsonOf<Report>("run", file)).run_id);
  return runs;
}

async function statuses(runs: readonly number[]): Promise<string[]> {
  const items = await jsonOf<{ run_id: number; status: string }[]>("list", "--limit", "100");
  return runs.map((run) => items.find(({ run_id }) => run_id === run)!.status);
}

async function signatureOf(workflow: string): Promise<string> {
  const { items } = await jsonOf<{ items: { signature: string }[] }>("failures", "--workflow", workflow);
  return items[0]!.signature.split(":")[1]!.slice(0, 10);
}

beforeAll(async () => {
  server = new RunningCli(["serve", "--port", "0", "--output-dir", join(cli.path, "server")]);
  url = (await server.until(/listening at (\S+)/))[1]!;
});
afterAll(async () => {
  server.kill("SIGTERM");
  await server.ended;
});

it("redrive --signature shows a bar; Ctrl-C leaves the campaign to the server, which completes it", {
  tags: ["B7"],
}, async () => {
  const runs = await failedRuns("registry", 3);
  const signature = await signatureOf("registry");
  const dry = await there("redrive", "--signature", signature, "--dry-run");
  expect(dry.stdout).toBe(`would take 3 jobs\n${runs.map((run) => `  run ${run}, call\n`).join("")}`);
  const tried = await there("redrive", "--signature", signature, "--reason", "try");
  expect([tried.exitCode, tried.stdout]).toEqual([
    1,
    expect.stringMatching(
      /^campaign (\d+): 3 jobs\ncampaign \1 is stopped: 0 of 3 good, 1 bad, 2 not touched\n {2}1 of 1 canaries failed again\n$/,
    ),
  ]);
  expect(tried.stderr).toContain(`[${"#".repeat(10)}${"-".repeat(20)}] 1 of 3, canary: 0 good, 1 bad\n`);
  repair("registry");
  const args = ["redrive", "--signature", signature, "--canary", "3", "--rate", "1/min", "--server", url];
  const followed = new RunningCli(args);
  const [, id] = await followed.until(/campaign (\d+) \[#{10}-{20}\] 1 of 3, canary: 1 good, 0 bad/);
  followed.kill("SIGINT");
  expect(await followed.ended).toBe(130);
  expect(followed.text).toContain(
    `campaign ${id} goes on without this command\n  daruma campaigns show ${id}`,
  );
  const [running] = await jsonOf<{ state: string }[]>("campaigns", "list");
  expect(running).toMatchObject({ state: "running", counts: { good: 1, waiting: 2 } });
  expect((await there("campaigns", "stop", id!)).exitCode).toBe(0);
  const rest = await there("retry", "--signature", signature, "--since", "1h");
  expect([rest.exitCode, rest.stdout]).toEqual([0, expect.stringContaining("is done: 2 of 2 good\n")]);
  expect(await statuses(runs)).toEqual(["completed", "completed", "completed"]);
});

it("resolve with filters decides holds alone, retry and reset all that match, in one run if it is named", {
  tags: ["B7"],
}, async () => {
  const [first, second] = (await failedRuns("disk", 2, "unhandled: hold")) as [number, number];
  const [failed] = (await failedRuns("disk-failed", 1)) as [number];
  const skipped = await there("resolve", String(first), "--class", "application", "--skip");
  expect(skipped.stdout).toContain("is done: 1 of 1 good\n");
  expect(await statuses([first, second, failed])).toEqual(["completed", "held", "failed"]);
  const holds = await there("resolve", "--since", "1h", "--fail", "--dry-run");
  expect(holds.stdout).toBe(`would take 1 job\n  run ${second}, call\n`);
  repair("disk");
  const retried = await there("resolve", "--workflow", "disk", "--retry", "--reason", "free again");
  expect(retried.stdout).toContain("is done: 1 of 1 good\n");
  expect(await statuses([second])).toEqual(["completed"]);
  repair("disk-failed");
  const reset = await there("reset", "--failed-only", "--workflow", "disk-failed");
  expect(reset.stdout).toContain("is done: 1 of 1 good\n");
  expect(await statuses([failed])).toEqual(["completed"]);
});

it.each([
  [
    ["retry", "1", "call", "--signature", "3f9a01bc"],
    "--signature cannot be combined with the name of a job",
  ],
  [["retry"], "name a run and a step, or choose failed jobs"],
  [["reset", "--failed-only"], "name a run, or choose failed jobs"],
  [["resolve", "--skip"], "name a run and the jobs to resolve, or choose holds"],
  [["resolve", "--class", "application", "--complete", "1"], "--complete is for jobs that are named"],
  [["retry", "--class", "application", "--force"], "--force is for jobs that are named"],
  [["redrive", "--class", "nonsense"], "must be one of"],
  [["redrive"], "say which failed jobs"],
])("daruma %j is refused: %s", async (args, message) => {
  const { exitCode, stderr } = await there(...args);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it("an agent looks what a campaign would take, starts it, and sees the result of each job", {
  tags: ["B7"],
}, async () => {
  const runs = await failedRuns("agents", 2);
  repair("agents");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)) as Transport);
  const call = async <T>(name: string, input: object): Promise<T> =>
    JSON.parse(
      ((await client.callTool({ name, arguments: { ...input } })).content as { text: string }[])[0]!.text,
    ) as T;
  const chosen = { workflow: "agents", kind: ["failed"] };
  const dry = await call<object>("start_campaign", { ...chosen, dry_run: true });
  expect(dry).toMatchObject({
    campaign: null,
    items: runs.map((run_id) => ({ run_id, step: "call", kind: "failed", state: "waiting" })),
  });
  const { campaign } = await call<{ campaign: number }>("start_campaign", {
    ...chosen,
    reason: "repaired",
  });
  const done = await eventually("the end of the campaign", async () => {
    const { items } = await call<{ items: { state: string }[] }>("list_campaigns", { campaign });
    return items[0]!.state === "done" && items[0]!;
  });
  expect(done).toMatchObject({
    counts: { good: 2 },
    results: runs.map((run_id, wave) => ({ run_id, state: "good", wave })),
  });
  await client.close();
});
