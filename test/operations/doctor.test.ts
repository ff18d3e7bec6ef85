import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Daruma } from "../../src/host/daruma.js";
import { openLocalClient } from "../../src/host/local-client.js";
import { notePass } from "../../src/operations/retention/retention-passes.js";
import { ScratchFolder } from "../../src/run/worker/scratch-folder.js";
import { currentOwner } from "../../src/store/lease-owner.js";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import { OK } from "../support/cli-folder.js";

let folder = "";
let outputDir = "";
let mounted = "";
const database = (): string => join(outputDir, "daruma.db");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-doctor-"));
  outputDir = join(folder, "out");
  // What others have left in that of this machine is not looked at.
  mkdirSync(join(folder, "tmp"));
  vi.stubEnv("TMPDIR", join(folder, "tmp"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  if (mounted !== "") execFileSync("umount", [mounted]);
  mounted = "";
  rmSync(folder, { recursive: true, force: true });
});

/** As `daruma doctor` asks, without a server. */
async function examine(config?: string) {
  const client = openLocalClient({ outputDir, config, version: "1.2.3" });
  try {
    return await client.call("check_health", {});
  } finally {
    await client.close();
  }
}

type Examined = Awaited<ReturnType<typeof examine>>;
const faults = ({ checks }: Examined): string[] =>
  checks
    .filter(({ status }) => status !== "ok")
    .map(({ name, status, message }) => `${status} ${name}: ${message}`);
const fixOf = ({ checks }: Examined, name: string): string | null =>
  checks.find((check) => check.name === name && check.status !== "ok")?.fix ?? null;

async function runOnce(source = OK): Promise<void> {
  const file = join(folder, "w.yaml");
  writeFileSync(file, source);
  const daruma = await Daruma.open({ outputDir });
  try {
    const { result } = await daruma.start(file);
    await result;
  } finally {
    await daruma.close();
  }
}

function change(sql: string): void {
  const db = new DatabaseSync(database());
  db.exec(sql);
  db.close();
}

/** A file system of its own in place of the output folder; false: this user may not mount one. */
function mountDisk(options: string): boolean {
  mkdirSync(outputDir, { mode: 0o700 });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `${options},mode=700`, "tmpfs", outputDir], {
      stdio: "ignore",
    });
  } catch {
    return false;
  }
  mounted = outputDir;
  return true;
}

describe("a healthy store", () => {
  it("is in order, before its first run and after", { tags: ["D4"] }, async () => {
    const empty = await examine();
    expect([empty.status, faults(empty)]).toEqual(["ok", []]);
    await runOnce();
    const after = await examine();
    expect([after.status, faults(after)]).toEqual(["ok", []]);
    expect(after.checks.map(({ name }) => name)).toEqual([
      ...[
        "versions",
        "settings",
        "store",
        "disk",
        "permissions",
        "scratch",
        "clock",
        "leases",
        "groups",
        "servers",
        "workers",
      ],
      ...["retention", "needs"],
    ]);
    expect(after.checks[0]!.message).toContain("Daruma 1.2.3");
  });
});

describe("a store that is not right", () => {
  it("is damaged: it says so, with what to do", { tags: ["D4"] }, async () => {
    await runOnce();
    const fd = openSync(database(), "r+");
    const { length } = readFileSync(database());
    for (let at = 8_192; at < length; at += 4_096) writeSync(fd, Buffer.alloc(2_048, 0xff), 0, 2_048, at);
    closeSync(fd);
    const found = await examine();
    expect(found.status).toBe("error");
    expect(faults(found)[0]).toMatch(/^error store: the database at \S+ is damaged: /);
    expect(fixOf(found, "store")).toContain("restore a backup");
  });

  it("is no database", async () => {
    mkdirSync(outputDir, { mode: 0o700 });
    writeFileSync(database(), "x".repeat(10_000), { mode: 0o600 });
    expect(faults(await examine())).toEqual([expect.stringMatching(/^error store: .*not a database/)]);
    rmSync(database());
    writeFileSync(database(), "", { mode: 0o600 });
    expect(faults(await examine())).toEqual([expect.stringContaining("has no tables of Daruma")]);
  });

  it("is of another version, which looking at it does not change", async () => {
    await runOnce();
    change("UPDATE schema_version SET version = 7");
    const found = await examine();
    expect([found.status, ...faults(found)]).toEqual([
      "error",
      expect.stringMatching(/^error store: .* has version 7; this Daruma reads version 1 alone$/),
    ]);
    // Nor do commands that need no database.
    const client = openLocalClient({ outputDir, config: undefined });
    expect((await client.call("validate_workflow", { source: OK })).ok).toBe(true);
    await client.call("whoami", {});
    await client.close();
    const db = new DatabaseSync(database());
    expect(db.prepare("SELECT version FROM schema_version").get()).toEqual({ version: 7 });
    db.close();
  });
});

describe("the disk", () => {
  it("is read-only", { tags: ["D4"] }, async ({ skip }) => {
    if (!mountDisk("size=20m")) skip("only a user who may mount file systems can have one");
    await runOnce();
    execFileSync("mount", ["-o", "remount,ro", outputDir]);
    const found = await examine();
    expect(found.status).toBe("error");
    expect(faults(found)).toContainEqual(
      expect.stringMatching(/^error disk: nothing can be written to .*EROFS/),
    );
    expect(faults(found)).toContainEqual(expect.stringMatching(/^error store: /));
  });

  it("is full", { tags: ["D4"] }, async ({ skip }) => {
    if (!mountDisk("size=3m")) skip("only a user who may mount file systems can have one");
    await runOnce();
    execFileSync("sh", ["-c", 'cat /dev/zero > "$0" 2>/dev/null || true', join(outputDir, "ballast")]);
    const found = await examine();
    expect(faults(found)).toContainEqual(expect.stringMatching(/^error disk: only 0 bytes free for /));
    expect(faults(found)).toContainEqual(
      expect.stringMatching(/^error disk: nothing can be written.*ENOSPC/),
    );
    expect(fixOf(found, "disk")).toContain("daruma prune");
  });

  it("belongs to somebody else, or can be read by everybody", { tags: ["D4"] }, async ({ skip }) => {
    await runOnce();
    chmodSync(outputDir, 0o755);
    const open = await examine();
    expect([open.status, ...faults(open)]).toEqual([
      "warning",
      expect.stringContaining("other users may read"),
    ]);
    expect(fixOf(open, "permissions")).toContain("chmod -R go= ");
    chmodSync(outputDir, 0o700);
    if (process.getuid?.() !== 0) skip("only root can give files away");
    chownSync(join(outputDir, "output", "job_stdio", "run-1"), 12_345, 12_345);
    expect(faults(await examine())).toEqual([
      expect.stringMatching(/^warning permissions: \S+run-1 belongs to user 12345, and this is user 0$/),
    ]);
  });
});

describe("what went wrong while it ran", () => {
  it("a process that is gone and holds runs, and the runs it left", { tags: ["D4"] }, async () => {
    await runOnce();
    change("UPDATE run SET status = 'running', finished_at = NULL, wanted = 1, managed = 1");
    const store = await openSqliteStore({ file: database() });
    const owner = { ...currentOwner("gone"), pid: 2 ** 22 + 1 };
    await store.acquireLease({ runId: 1, owner, now: Date.now(), expiresAt: Date.now() + 600_000 });
    await store.close();
    const held = await examine();
    expect(faults(held)).toContainEqual(
      expect.stringMatching(/^warning leases: process 4194305 on \S+ is gone and still holds runs$/),
    );
    change("UPDATE run SET managed = 0, wanted = 0");
    const left = await examine();
    expect(faults(left)).toEqual(["warning leases: 1 run interrupted, with nobody to continue: 1"]);
    expect(fixOf(left, "leases")).toContain("daruma resume RUN");
  });

  it("a scratch folder of a dead process that could not be removed", async () => {
    await runOnce();
    const scratch = new ScratchFolder();
    const name = basename(scratch.open()).replace(/-\d+-\d+-\w+$/, `-${2 ** 22 + 1}-1-abcdef.removing`);
    await scratch.close();
    const stuck = join(folder, "tmp", name);
    mkdirSync(stuck);
    expect(faults(await examine())).toEqual([]);
    utimesSync(stuck, 0, 0);
    const left = await examine();
    expect(faults(left)).toEqual([
      `warning scratch: processes that were killed have left what could not be removed: ${stuck}`,
    ]);
    expect(fixOf(left, "scratch")).toContain("by hand");
  });

  it("a clock that was set back", async () => {
    await runOnce();
    change("UPDATE run SET created_at = created_at + 86400000");
    expect(faults(await examine())).toEqual([
      expect.stringMatching(/^warning clock: run 1 was made at .* in the future/),
    ]);
  });

  it("servers with different settings, retention that failed, a worker in quarantine", async () => {
    await runOnce();
    const store = await openSqliteStore({ file: database() });
    const keep = (engine: string, settings: string, changes: object = {}) => {
      const owner = { host: "h", bootId: "b", pid: 1, processStart: "1", engine };
      const server = {
        owner,
        url: `http://${engine}`,
        settings,
        hasLeft: false,
        expiresAt: Date.now() + 60_000,
      };
      return store.keepServer({ ...server, ...changes }, Date.now());
    };
    await keep("two", "b");
    await keep("one", "a");
    await keep("three", "a");
    await keep("left", "c", { hasLeft: true });
    await keep("gone", "d", { expiresAt: Date.now() });
    const counts = { runs: 0, logs: 0, artifacts: 0, bytes: 0 };
    await notePass(store, { host: "h", counts, error: "EACCES: no" }, Date.now());
    const quarantine = { since: 1, until: 2, lengthMs: 1, jobs: [], probation: null };
    await store.writeShared([
      { kind: "worker", name: "w1", revision: 0, data: JSON.stringify({ quarantine }) },
    ]);
    await store.close();
    expect(faults(await examine())).toEqual([
      "warning servers: servers of this store have different settings: http://one, http://two",
      "warning workers: worker w1 is in quarantine: jobs failed on it that others completed",
      expect.stringMatching(/^error retention: h could not remove old runs at \S+: EACCES: no$/),
    ]);
  });

  it("settings that cannot be read, and a secret that is not set", async () => {
    process.env.DOCTOR_TEST_SECRET = "a long secret value";
    await runOnce("secrets: [DOCTOR_TEST_SECRET]\nsteps: { a: { type: noop } }");
    delete process.env.DOCTOR_TEST_SECRET;
    const config = join(folder, "bad.config.yaml");
    writeFileSync(config, "retention: { runs: {} }");
    const found = await examine(config);
    expect(faults(found)).toEqual([
      expect.stringMatching(/^error settings: .* retention.runs has no bound$/),
      "warning needs: the secret DOCTOR_TEST_SECRET of w is not set in the environment of this process",
    ]);
    expect(fixOf(found, "settings")).toContain("daruma config check");
    const none = join(folder, "no-such-file");
    writeFileSync(
      config,
      `channels: { ops: { type: slack, secret: { file: ${none} } }, old: { type: slack, secret: NO_SUCH_VARIABLE } }`,
    );
    expect(faults(await examine(config)).slice(-2)).toEqual([
      `warning needs: the secret of the channel ops cannot be used: the file ${none} is empty or missing`,
      "warning needs: the secret of the channel old cannot be used: the variable NO_SUCH_VARIABLE is empty or missing",
    ]);
  });
});
