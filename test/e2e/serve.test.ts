import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder, RunningCli } from "../support/cli-folder.js";
import { EventReader } from "../support/event-source.js";

const folder = new CliFolder();

async function serve(outputDir: string, ...flags: string[]): Promise<{ cli: RunningCli; url: string }> {
  const cli = new RunningCli(["serve", "--port", "0", "--output-dir", outputDir, ...flags]);
  const [, url] = await cli.until(/listening at (http:\S+)/);
  return { cli, url: url! };
}

async function ask<T>(
  url: string,
  init: RequestInit & { json?: unknown } = {},
): Promise<{ status: number; body: T }> {
  const { json, ...rest } = init;
  const response = await fetch(url, {
    ...rest,
    ...(json === undefined
      ? {}
      : { method: "POST", body: JSON.stringify(json), headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, body: (await response.json()) as T };
}

async function start(url: string, source: string): Promise<number> {
  const { status, body } = await ask<{ run_id: number }>(`${url}/api/v1/runs`, { json: { source } });
  expect(status).toBe(201);
  return body.run_id;
}

async function untilStatus(
  url: string,
  run: number,
  wanted: string,
): Promise<{ jobs: { output: unknown }[] }> {
  for (;;) {
    const { body } = await ask<{ status: string; jobs: { output: unknown }[] }>(`${url}/api/v1/runs/${run}`);
    if (body.status === wanted) return body;
    await delay(30);
  }
}

describe("daruma serve", () => {
  it("runs what is sent to it; its steps know where it is", async () => {
    const { cli, url } = await serve(join(folder.path, "simple"));
    const run = await start(
      url,
      'name: tell\nsteps: { say: { type: command, exec: "echo $DARUMA_API_URL" } }',
    );
    const { jobs } = await untilStatus(url, run, "completed");
    expect(jobs[0]!.output).toBe(url);
    cli.kill("SIGTERM");
    expect(await cli.ended).toBe(0);
  });

  it("lets go of its runs at SIGTERM and ends its streams; the next server goes on with them", async () => {
    const outputDir = join(folder.path, "handover");
    const gate = join(folder.path, "handover-gate");
    const first = await serve(outputDir);
    const run = await start(
      first.url,
      `name: wait\nsteps: { wait: { type: command, exec: "while [ ! -e ${gate} ]; do sleep 0.05; done; echo through" } }`,
    );
    const reader = await EventReader.open(`${first.url}/api/v1/runs/${run}/events`);
    await reader.until(() => reader.events.some(({ event }) => event === "attempt.started"));
    first.cli.kill("SIGTERM");
    expect(await first.cli.ended).toBe(0);
    await reader.ended;
    const second = await serve(outputDir);
    await second.cli.until(/continuing 1 interrupted run;/);
    writeFileSync(gate, "");
    const { jobs } = await untilStatus(second.url, run, "completed");
    expect(jobs[0]!.output).toBe("through");
    second.cli.kill("SIGINT");
    expect(await second.cli.ended).toBe(0);
  });

  it("goes on with a run whose server was killed", async () => {
    const outputDir = join(folder.path, "killed");
    const gate = join(folder.path, "killed-gate");
    const first = await serve(outputDir);
    const run = await start(
      first.url,
      `name: wait\nsteps: { wait: { type: command, exec: "while [ ! -e ${gate} ]; do sleep 0.05; done; echo through" } }`,
    );
    await untilStatus(first.url, run, "running");
    first.cli.kill("SIGKILL");
    await first.cli.ended;
    writeFileSync(gate, "");
    const second = await serve(outputDir);
    await untilStatus(second.url, run, "completed");
    await second.cli.until(new RegExp(`Z took over run ${run} of wait; 1 attempt was lost$`, "m"));
    // A run that was at rest was nobody's.
    const failing = await start(second.url, "name: fails\nsteps: { a: { exec: exit 3 } }");
    await untilStatus(second.url, failing, "failed");
    const again = `${second.url}/api/v1/jobs/a/retry/${failing}?max_retries=2`;
    expect((await ask(again, { method: "POST" })).status).toBe(200);
    await untilStatus(second.url, failing, "failed");
    expect(second.cli.text.match(/took over/g)).toHaveLength(1);
    second.cli.kill("SIGTERM");
    expect(await second.cli.ended).toBe(0);
  });

  it("ends at once at the second signal", async () => {
    const { cli, url } = await serve(join(folder.path, "impatient"));
    const run = await start(
      url,
      "name: stubborn\nsteps: { stay: { type: command, kill_grace_ms: 60000, exec: \"trap '' TERM; while :; do sleep 0.05; done\" } }",
    );
    await untilStatus(url, run, "running");
    cli.kill("SIGTERM");
    await cli.until(/releasing runs/);
    cli.kill("SIGTERM");
    // A shell tells 130 of a program that SIGINT has ended.
    expect(await cli.ended).toBe("SIGINT");
  });

  it("says so when there are tokens, but none that can be used any more", async () => {
    const outputDir = join(folder.path, "revoked");
    const at = ["--output-dir", outputDir];
    await runCli(["token", "create", "ci", "--role", "viewer", ...at]);
    expect((await runCli(["token", "revoke", "1", ...at])).exitCode).toBe(0);
    const { exitCode, stderr } = await runCli(["serve", "--host", "0.0.0.0", "--port", "0", ...at]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/TOKENS_NEEDED.*every token is revoked or expired/);
  });

  it("refuses a port that is none, and a server that it would not ask", async () => {
    const at = ["--output-dir", join(folder.path, "refused")];
    const port = await runCli(["serve", "--port", "99999", ...at]);
    expect([port.exitCode, port.stderr]).toEqual([
      2,
      expect.stringMatching(/invalid port 99999[\s\S]*65535/),
    ]);
    const server = await runCli(["serve", "--server", "http://127.0.0.1:1", ...at]);
    expect([server.exitCode, server.stderr]).toEqual([
      2,
      expect.stringMatching(/USAGE[\s\S]*Remove --server/),
    ]);
  });

  it("does not open itself to other machines before there is a token, and then only to tokens", async () => {
    const outputDir = join(folder.path, "open");
    const refused = new RunningCli(["serve", "--host", "0.0.0.0", "--port", "0", "--output-dir", outputDir]);
    expect(await refused.ended).toBe(2);
    expect(refused.text).toMatch(/TOKENS_NEEDED[\s\S]*daruma token create/);
    const made = await runCli([
      "token",
      "create",
      "ci",
      "--role",
      "viewer",
      "--json",
      "--output-dir",
      outputDir,
    ]);
    const { token } = JSON.parse(made.stdout) as { token: string };
    const { cli, url } = await serve(outputDir, "--host", "0.0.0.0");
    expect(cli.text).toContain(`listening at ${url} (0.0.0.0:${new URL(url).port})`);
    expect((await ask(`${url}/api/v1/runs`)).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    expect((await ask(`${url}/api/v1/runs`, { headers })).status).toBe(200);
    expect((await ask(`${url}/healthz`)).status).toBe(200);
    cli.kill("SIGTERM");
    expect(await cli.ended).toBe(0);
  });

  it("says so when the port is in use", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const cli = new RunningCli(["serve", "--port", String(port), "--output-dir", join(folder.path, "taken")]);
    expect(await cli.ended).toBe(2);
    expect(cli.text).toContain("the port is in use");
    other.close();
  });

  it("keeps no connection waiting when it goes down", async () => {
    const { cli, url } = await serve(join(folder.path, "idle"));
    const { port } = new URL(url);
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    await new Promise((resolve) => socket.once("connect", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    cli.kill("SIGTERM");
    expect(await cli.ended).toBe(0);
    await closed;
  });
});
