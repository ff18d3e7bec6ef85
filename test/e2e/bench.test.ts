import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../support/cli.js";

interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}
interface Part {
  readonly id: string;
  readonly rows: readonly {
    readonly name: string;
    readonly cells: Readonly<Record<string, Figure | null>>;
  }[];
}
interface Results {
  readonly versions: Readonly<Record<string, string | null>>;
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  readonly parts: readonly Part[];
}

const scratch = mkdtempSync(join(tmpdir(), "daruma-bench-test-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function node(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: repositoryRoot,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("the benchmark", () => {
  const file = join(scratch, "results.json");
  const parts = ["start", "wide", "noop", "book", "growth", "workers"];

  it("measures Daruma beside the programs that are installed and names the ones that are not", () => {
    const result = node(
      "bench/run.mjs",
      "--tiny",
      ...parts.flatMap((part) => ["--only", part]),
      "--json",
      file,
    );
    expect([result.stderr, result.status]).toEqual(["", 0]);
    const results = JSON.parse(readFileSync(file, "utf8")) as Results;
    expect(results.parts.map(({ id }) => id)).toEqual([
      "start",
      "wide-true",
      "wide-env",
      "noop",
      "book",
      "growth-run",
      "growth-read",
      "growth-server",
      "growth-load",
      "workers",
    ]);
    for (const { id, rows } of results.parts)
      for (const { name, cells } of rows)
        for (const figure of Object.values(cells))
          if (figure !== null) expect(figure.median, `${id}, ${name}`).toBeGreaterThan(0);
    const wide = results.parts.find(({ id }) => id === "wide-env")!.rows;
    for (const peer of ["make", "ninja", "xargs", "snakemake"]) {
      const isInstalled = results.versions[peer] !== null;
      expect(wide.some(({ name, cells }) => name === peer && cells.ratio !== null)).toBe(isInstalled);
      expect(results.skipped.some(({ name }) => name === peer)).toBe(!isInstalled);
    }
    const reads = results.parts
      .find(({ id }) => id === "growth-read")!
      .rows.filter(({ cells }) => cells.ms3 && cells.ms4);
    expect(reads.map(({ name }) => name.split(" ")[0])).toEqual(
      "logs job job explain explain show show events events stats graph list resume".split(" "),
    );
  });

  it("makes a page with the machine, the date, the versions and every part", () => {
    const { status, stdout } = node("scripts/write-benchmarks-doc.mjs", "--print", file);
    expect(status).toBe(0);
    expect(stdout).toMatch(/\| \d{4}-\d\d-\d\d \d\d:\d\d UTC \| `start`, `wide`, .*\| \d+ cores of /);
    expect(stdout).toMatch(/^1 round.* Measured .* UTC, load [\d.]+ a core before and [\d.]+ after\.$/m);
    expect(stdout).toContain(`node ${process.version}`);
    expect(stdout).toMatch(/^## 3 x `env true`$/m);
    expect(stdout).toMatch(/^\| daruma \| [\d,]+ \| {2}\|$/m);
  });

  it("shows the recorded ratio beside the measured one, and ignores the settings of whoever runs it", () => {
    const { status, stdout } = spawnSync(process.execPath, ["bench/run.mjs", "--quick", "--only", "start"], {
      cwd: repositoryRoot,
      encoding: "utf8",
      env: { ...process.env, DARUMA_STORE: "/no/such/folder/runs.db" },
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(/ms {2}Daruma's time \/ its time +recorded$/m);
    expect(stdout).toMatch(/node -e 0 .*\.\..*x\) +[\d.]+x \([\d.]+x\.\.[\d.]+x\)$/m);
    expect(stdout).toMatch(/^recorded on \d{4}-\d\d-\d\d, load [\d.]+ a core: start$/m);
  });

  it("records some of the parts in place of what was recorded of them, and leaves the others", () => {
    const copy = join(scratch, "with-records");
    cpSync(join(repositoryRoot, "bench"), join(copy, "bench"), { recursive: true });
    const sitting = (measured_at: string, ids: readonly string[]) => ({
      mode: "all",
      measured_at,
      load_per_core: { before: 0, after: 0 },
      parts: ids.map((id) => ({ id, rows: [] })),
    });
    const recorded = join(copy, "bench/recorded.json");
    writeFileSync(recorded, "{}");
    const merge = (...sittings: readonly object[]) => {
      const files = sittings.map((results, at) => {
        const path = join(copy, `results-${at}.json`);
        writeFileSync(path, JSON.stringify(results));
        return path;
      });
      return node(join(copy, "bench/run.mjs"), ...files.flatMap((name) => ["--merge", name]));
    };
    const whole = sitting("monday", ["start", "wide-true", "wide-old", "hand-over"]);
    expect(merge(whole, sitting("tuesday", ["wide-true"]), sitting("friday", ["hand-over"])).status).toBe(0);
    const kept = () =>
      (JSON.parse(readFileSync(recorded, "utf8")) as { all: (typeof whole)[] }).all.map(
        ({ measured_at, parts: tables }) => [measured_at, ...tables.map(({ id }) => id)],
      );
    expect(kept()).toEqual([
      ["monday", "start"],
      ["tuesday", "wide-true"],
      ["friday", "hand-over"],
    ]);
    expect(merge(sitting("sunday", ["start"])).status).toBe(0);
    expect(kept().map(([day]) => day)).toEqual(["tuesday", "friday", "sunday"]);
    expect(merge({ ...whole, mode: "tiny" })).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/results-0.json has no results of --all or --quick\n$/),
    });
  });

  it("fails where Daruma does not do the work", () => {
    const copy = join(scratch, "without-a-build");
    cpSync(join(repositoryRoot, "bench"), join(copy, "bench"), { recursive: true });
    cpSync(join(repositoryRoot, "package.json"), join(copy, "package.json"));
    const { status, stdout } = node(join(copy, "bench/run.mjs"), "--tiny", "--only", "start");
    expect([status, stdout]).toEqual([
      1,
      expect.stringMatching(/^left out:\n {2}daruma: Error: Cannot find module/m),
    ]);
  });

  it("refuses a part that it does not have", () => {
    expect(node("bench/run.mjs", "--tiny", "--only", "speed")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("unknown part speed; choose from start, wide, "),
    });
  });

  it("says what it does when no size is chosen", () => {
    const { stdout } = node("bench/run.mjs", "--help");
    expect(stdout).toContain("--quick");
    expect(node("bench/run.mjs")).toMatchObject({
      status: 2,
      stderr: `choose one of --all, --quick and --tiny\n\n${stdout}`,
    });
  });
});
