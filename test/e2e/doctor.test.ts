import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { CliFolder, OK } from "../support/cli-folder.js";
import { DarumaProcess } from "../support/daruma-process.js";
import { HANG_MS } from "../support/hang.js";

const cli = new CliFolder();
const started: DarumaProcess[] = [];
afterAll(async () => {
  for (const each of started) await each.kill();
});

describe("daruma doctor", () => {
  it("says that all is well, warns, and fails where something is wrong", {
    tags: ["D4"],
    timeout: 300_000,
  }, async () => {
    await cli.runJson(OK);
    const well = await cli.daruma("doctor");
    expect([well.exitCode, well.stderr]).toEqual([0, ""]);
    expect(well.stdout).toMatch(/^ok versions: Daruma \d/);
    expect(well.stdout).toMatch(/\neverything is in order\n$/);
    chmodSync(cli.outputDir, 0o755);
    const warned = await cli.daruma("doctor", "--quiet");
    expect([warned.exitCode, warned.stdout]).toEqual([
      0,
      expect.stringMatching(/^warning permissions: other users may read .*\n {2}fix: Run `chmod .*\n$/),
    ]);
    chmodSync(cli.outputDir, 0o700);
    const server = new DarumaProcess("server", ["serve", "--port", "0", "--output-dir", cli.outputDir]);
    started.push(server);
    server.start();
    await vi.waitFor(() => expect(server.output).toContain("listening at "), HANG_MS);
    const url = /listening at (\S+)/.exec(server.output)![1]!;
    const asked = await cli.json<{ status: string; checks: { name: string; message: string }[] }>(
      ...["doctor", "--server", url],
    );
    expect([asked.exitCode, asked.value.status]).toEqual([0, "ok"]);
    expect(asked.value.checks.find(({ name }) => name === "servers")!.message).toBe(`1 server: ${url}`);
    expect(asked.value.checks.find(({ name }) => name === "workers")!.message).toContain("1 worker");
    await server.stop();
    writeFileSync(
      join(cli.outputDir, "daruma.db"),
      "not a database at all, but long enough for one".repeat(99),
    );
    const wrong = await cli.json<{ status: string; checks: { fix: string }[] }>("doctor");
    expect([wrong.exitCode, wrong.value.status]).toEqual([1, "error"]);
  });
});
