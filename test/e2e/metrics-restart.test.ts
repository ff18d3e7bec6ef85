import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder, RunningCli } from "../support/cli-folder.js";
import { fileAppears } from "../support/file-appears.js";

const folder = new CliFolder();

/** The series of a server that have counted anything, and its gauges. */
async function metrics(url: string): Promise<{ [series: string]: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => /^(task_self_heal|daruma)_/.test(line));
  const pairs = lines.map((line): [string, number] => {
    const [, series, value] = /^(.*) (\S+)$/.exec(line)!;
    return [series!, Number(value)];
  });
  return Object.fromEntries(pairs.filter(([, value]) => value !== 0));
}

async function ask<T>(method: string, url: string, body: unknown): Promise<T> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  expect(response.ok).toBe(true);
  return (await response.json()) as T;
}

async function serve(outputDir: string): Promise<{ cli: RunningCli; url: string }> {
  const cli = new RunningCli(["serve", "--port", "0", "--output-dir", outputDir]);
  const [, url] = await cli.until(/listening at (http:\S+)/);
  return { cli, url: url! };
}

async function untilStatus(url: string, run: number, wanted: string): Promise<{ jobs: { id: number }[] }> {
  for (;;) {
    const answer = await fetch(`${url}/api/v1/runs/${run}`);
    const body = (await answer.json()) as { status: string; jobs: { id: number }[] };
    if (body.status === wanted) return body;
    await delay(30);
  }
}

describe("metrics of a server that is started again", () => {
  it.each(["SIGTERM", "SIGKILL"] as const)(
    "count what follows on top of what was before %s, and nothing twice",
    { tags: ["M32"] },
    async (signal) => {
      const marks = join(folder.path, signal);
      const outputDir = join(folder.path, `out-${signal}`);
      const first = await serve(outputDir);
      const flaky = await ask<{ run_id: number }>("POST", `${first.url}/api/v1/runs`, {
        source: `name: flaky
steps:
  a:
    exec: "if [ $DARUMA_ATTEMPT_ID = 1 ]; then exit 1; fi; touch ${marks}.begun; while [ ! -e ${marks}.go ]; do sleep 0.05; done"
    on_fail: { retry: { max: 1 } }`,
      });
      const held = await ask<{ run_id: number }>("POST", `${first.url}/api/v1/runs`, {
        source: `name: held\nunhandled: hold\nsteps: { b: { exec: "test -e ${marks}.go" } }`,
      });
      const { jobs } = await untilStatus(first.url, held.run_id, "held");
      await fileAppears(`${marks}.begun`);
      expect(await metrics(first.url)).toEqual({
        daruma_runs_started_total: 2,
        'daruma_attempts_total{outcome="failed",class="application"}': 2,
        'daruma_rungs_total{rung="retry"}': 1,
        'daruma_rungs_total{rung="hold"}': 1,
        daruma_holds_total: 1,
        daruma_owned_runs: 1,
        daruma_busy_slots: 1,
        daruma_workers: 1,
      });
      first.cli.kill(signal);
      await first.cli.ended;

      const second = await serve(outputDir);
      const lost =
        signal === "SIGKILL"
          ? {
              'daruma_attempts_total{outcome="failed",class="infrastructure"}': 1,
              'daruma_rungs_total{rung="restart"}': 1,
            }
          : {};
      const gauges = { daruma_workers: 1, daruma_busy_slots: 1, daruma_owned_runs: 1 };
      expect(await metrics(second.url)).toEqual({ ...lost, ...gauges });
      writeFileSync(`${marks}.go`, "");
      await untilStatus(second.url, flaky.run_id, "completed");
      await ask("PUT", `${second.url}/api/v1/jobs/${jobs[0]!.id}`, { status: "ready" });
      await untilStatus(second.url, held.run_id, "completed");
      expect(await metrics(second.url)).toEqual({
        ...lost,
        daruma_workers: 1,
        'task_self_heal_attempts_total{strategy="soft_reset",class="application",outcome="succeeded"}': 1,
        task_self_heal_recovered_total: 2,
        'daruma_attempts_total{outcome="succeeded",class="none"}': 2,
        'daruma_runs_total{status="completed"}': 2,
      });
      second.cli.kill("SIGTERM");
      expect(await second.cli.ended).toBe(0);
    },
  );

  it("count what a person decides about a run that nobody runs", async () => {
    const { cli, url } = await serve(join(folder.path, "decided"));
    const { run_id } = await ask<{ run_id: number }>("POST", `${url}/api/v1/runs`, {
      source: 'name: held\nunhandled: hold\nsteps: { b: { exec: "exit 1" } }',
    });
    const { jobs } = await untilStatus(url, run_id, "held");
    await ask("PUT", `${url}/api/v1/jobs/${jobs[0]!.id}`, { status: "failed" });
    await untilStatus(url, run_id, "failed");
    expect(await metrics(url)).toMatchObject({ 'daruma_runs_total{status="failed"}': 1 });
    cli.kill("SIGTERM");
    await cli.ended;
  });
});
