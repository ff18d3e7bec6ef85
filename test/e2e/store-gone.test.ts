import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLine, runCli } from "../support/cli.js";
import { CliFolder, OK, RunningCli } from "../support/cli-folder.js";
import { fileAppears } from "../support/file-appears.js";

const cli = new CliFolder();
const PAGE_BYTES = 4_096;

function removeDatabase(outputDir: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(join(outputDir, `daruma.db${end}`));
}

/** A step that waits for `go` in its folder, and one after it that leaves a mark. */
function waiting(place: string): string {
  mkdirSync(place, { recursive: true });
  const wait = `touch ${place}/began; while ! test -e ${place}/go; do sleep 0.05; done`;
  return `name: waiting
steps:
  wait: { type: command, exec: "${wait}" }
  after: { type: command, exec: "touch ${place}/after", depends_on: [wait] }`;
}

describe("a database that is deleted while it is in use", () => {
  it("ends `daruma run` with exit code 5, before anything more is done or told", async () => {
    const place = join(cli.path, "run");
    const run = cli.start("run", cli.write("run.yaml", waiting(place)));
    await fileAppears(join(place, "began"));
    removeDatabase(cli.outputDir);
    writeFileSync(join(place, "go"), "");
    expect(await run.ended).toBe(5);
    expect(run.text).toMatch(/error STORE_GONE: \S+daruma\.db was deleted while Daruma used it/);
    expect(run.text).toMatch(/hint: .*docs\/backup\.md/);
    expect(run.text).not.toMatch(/completed/);
    expect(existsSync(join(place, "after"))).toBe(false);
  });

  it("makes a server refuse work, say so at /readyz, and end its attempts", async () => {
    const [place, outputDir] = [join(cli.path, "served"), join(cli.path, "served-out")];
    const server = new RunningCli(["serve", "--port", "0", "--output-dir", outputDir]);
    const [, url] = await server.until(/listening at (http:\S+)/);
    const ask = async (path: string, source?: string) => {
      const body = source === undefined ? {} : { method: "POST", body: JSON.stringify({ source }) };
      const response = await fetch(url + path, { ...body, headers: { "content-type": "application/json" } });
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await ask("/readyz")).toEqual([200, undefined]);
    const pidFile = join(place, "pid");
    const source = waiting(place).replace("touch", `echo $$ > ${pidFile}; touch`);
    expect(await ask("/api/v1/runs", source)).toEqual([201, undefined]);
    await fileAppears(join(place, "began"));
    removeDatabase(outputDir);
    expect(await ask("/readyz")).toEqual([503, "STORE_GONE"]);
    expect(await ask("/api/v1/runs", OK)).toEqual([503, "STORE_GONE"]);
    expect((await ask("/healthz"))[0]).toBe(200);
    // The next renewal of the lease finds out, at the latest.
    const pid = Number(readFileSync(pidFile, "utf8"));
    await expect.poll(() => isAlive(pid), { interval: 50 }).toBe(false);
    server.kill("SIGTERM");
    await server.ended;
    expect(existsSync(join(place, "after"))).toBe(false);
    expect(existsSync(join(outputDir, "daruma.db"))).toBe(false);
  }, 60_000);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a damaged database", () => {
  it("is told as damage, with the backup as the way out", async () => {
    const outputDir = join(cli.path, "damaged");
    expect((await runCli(["run", cli.write("ok.yaml", OK), "--output-dir", outputDir])).exitCode).toBe(0);
    const file = join(outputDir, "daruma.db");
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xee, PAGE_BYTES));
    const { exitCode, stderr } = await runCli(["list", "--output-dir", outputDir]);
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^error STORE_DAMAGED: \S+daruma\.db: the database is damaged/);
    expect(stderr).toContain("docs/backup.md");
    expect(stderr).not.toContain("nothing recorded is lost");
  });
});

const READING = [
  ...[["list"], ["show", "1"], ["workflows"], ["explain", "1"], ["logs", "1", "a"], ["events", "1"]],
  ...[["resume", "1"], ["stats"], ["holds"], ["prune", "--older-than", "1d"]],
];

describe("a folder that cannot be looked into", () => {
  it.each(READING)("is an error of `daruma %s`, not a folder without runs", async (...command) => {
    const plain = cli.write("plain", "");
    const { exitCode, stdout, stderr } = await runCli([...command, "--output-dir", join(plain, "inside")]);
    expect([exitCode, stdout]).toEqual([5, ""]);
    expect(stderr).toMatch(/^error STORE_FAILED: \S+plain\/inside\/daruma\.db: .*ENOTDIR/);
  });

  it("for want of permission is one too", async ({ skip }) => {
    const outputDir = join(cli.path, "private", "out");
    mkdirSync(join(cli.path, "private"), { mode: 0o700 });
    expect((await runCli(["run", cli.write("ok.yaml", OK), "--output-dir", outputDir])).exitCode).toBe(0);
    chmodSync(cli.path, 0o755);
    if (process.getuid?.() !== 0 || !hasSetpriv()) skip("only root can become somebody else");
    expect(statSync(join(cli.path, "private")).mode & 0o777).toBe(0o700);
    const asNobody = [
      "--reuid",
      "65534",
      "--regid",
      "65534",
      "--clear-groups",
      process.execPath,
      commandLine,
    ];
    const { status, stderr } = spawnSync("setpriv", [...asNobody, "list", "--output-dir", outputDir], {
      encoding: "utf8",
      cwd: "/",
    });
    expect(stderr).toMatch(/^error STORE_FAILED: .*EACCES/);
    expect(status).toBe(5);
  });
});

function hasSetpriv(): boolean {
  try {
    execFileSync("setpriv", ["--reuid", "65534", "--clear-groups", process.execPath, "--version"]);
    return true;
  } catch {
    return false;
  }
}
