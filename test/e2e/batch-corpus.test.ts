import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type LoadResult, loadDefinition } from "../../src/file/load.js";
import { runCli } from "../support/cli.js";
import type { Report } from "../support/cli-folder.js";
import { repositoryRoot } from "../support/repository-root.js";
import { REAL_CHECKS } from "../support/workflow-text.js";

const FOLDER = join(repositoryRoot, "examples/batch");
const FILES = readdirSync(FOLDER);

interface Expected {
  readonly jobs: number;
  readonly files?: Readonly<Record<string, string>>;
  /** Of jobs whose names begin so; all others have one. */
  readonly attempts?: Readonly<Record<string, number>>;
}

/** Every file of the folder: how many steps it has, and what it leaves. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  "diamond-by-files.yaml": { jobs: 4, files: { "out/report.txt": "2\t4\n" } },
  "hundred-jobs.json5": { jobs: 100 },
  "sweep-shared-parameters.yaml": { jobs: 14, files: { "out/best.txt": "20\n" } },
  "staged-pipeline.yaml": {
    jobs: 9,
    files: { "staged/total.txt": "10+20+30+40\n", "staged/log.txt": "started\nworked\ncomplete\n" },
  },
  "barrier.json": { jobs: 42 },
  "retry-by-exit-code.yaml": {
    jobs: 14,
    files: { "summary.txt": "3\n0\n0\n" },
    attempts: { simulate_m0: 2, simulate_m1: 2, flaky: 3 },
  },
  "zip.yaml": { jobs: 3 },
  "user-data.json5": { jobs: 4 },
};

const load = (text: string, file: string): LoadResult => loadDefinition(text, { file, ...REAL_CHECKS });

/** JSON with what only JSON5 may have. */
function toJson5(json: string): string {
  return `// A comment.\n${json.replace(/\}\s*$/, ",}")}`;
}

describe("files in the shapes that people have", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "daruma-corpus-"));
    cpSync(FOLDER, folder, { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are all known here", () => {
    expect(Object.keys(EXPECTED).sort()).toEqual([...FILES].sort());
  });

  it.each(FILES.filter((file) => extname(file) === ".yaml"))(
    "%s means the same in JSON and in JSON5",
    (file) => {
      const text = readFileSync(join(FOLDER, file), "utf8");
      const json = JSON.stringify(parse(text), null, 2);
      const name = basename(file, ".yaml");
      const loaded = [load(text, file), load(json, `${name}.json`), load(toJson5(json), `${name}.json5`)];
      const [first, ...others] = loaded.map((result) => (result.ok ? result.definition : result.problems));
      expect(loaded[0]!.ok).toBe(true);
      for (const other of others) expect(other).toEqual(first);
    },
  );

  it.each(Object.entries(EXPECTED))(
    "%s runs to its end as it is",
    async (file, { jobs, files = {}, attempts = {} }) => {
      const args = ["run", file, "--json", "--quiet", "--output-dir", "runs"];
      const { exitCode, stdout } = await runCli(args, {}, folder);
      const report = JSON.parse(stdout) as Report;
      expect([exitCode, report.status]).toEqual([0, "completed"]);
      expect(report.jobs).toHaveLength(jobs);
      for (const { step, status, attempts: made } of report.jobs) {
        const [, expected = 1] = Object.entries(attempts).find(([start]) => step.startsWith(start)) ?? [];
        expect([step, status, made]).toEqual([step, "completed", expected]);
      }
      for (const [path, text] of Object.entries(files))
        expect(readFileSync(join(folder, path), "utf8").replaceAll(" ", "")).toBe(text);
    },
  );
});
