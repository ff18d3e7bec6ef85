import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { commandLine } from "../support/cli.js";
import type { Report } from "../support/cli-folder.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-init-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function daruma(...args: string[]) {
  return spawnSync(process.execPath, [commandLine, ...args], { cwd: folder, encoding: "utf8" });
}

describe("daruma init", () => {
  it("writes a workflow that runs as it is, with a retry and a repair", () => {
    const written = daruma("init");
    expect([written.status, written.stdout]).toEqual([
      0,
      "wrote workflow.yaml\nrun it:        daruma run workflow.yaml\nwhat happened: daruma explain last\n",
    ]);
    const { status, stdout } = daruma("run", "workflow.yaml", "--json");
    const report = JSON.parse(stdout) as Report;
    expect([status, report.status]).toEqual([0, "completed"]);
    expect(report.routes.map(({ step, rung, to }) => [step, rung, to])).toEqual([
      ["fetch", "retry", "fetch"],
      ["fetch", "retry", "fetch"],
      ["test", "remediate", "lint-fix"],
    ]);
    expect(report.jobs.map(({ step, attempts }) => [step, attempts])).toEqual([
      ["fetch", 3],
      ["test", 2],
      ["lint-fix", 1],
      ["publish", 1],
    ]);
  });

  it("writes a file that has no problems, no warnings and one newline at its end", () => {
    daruma("init", "checked.yaml");
    const { status, stderr } = daruma("validate", "checked.yaml");
    expect([status, stderr]).toEqual([0, ""]);
    expect(readFileSync(join(folder, "checked.yaml"), "utf8")).toMatch(/[^\n]\n$/);
  });

  it.each([
    {
      file: "package.json",
      text: JSON.stringify({ scripts: { lint: "x", "lint:fix": "x", test: "x", build: "x", other: "x" } }),
      execs: ["npm install", "npm run lint", "npm run test", "npm run build", "npm run lint:fix"],
    },
    {
      file: "Makefile",
      text: "CC := gcc\nbuild: main.c\n\tcc main.c\ntest : build\n",
      execs: ["make build", "make test"],
    },
    {
      file: "pyproject.toml",
      text: '[project.optional-dependencies]\ndev = ["pytest", "ruff"]\n',
      execs: ["python -m pip install --editable .", "ruff check .", "python -m pytest", "ruff check --fix ."],
    },
  ])("fits a folder with a $file, and is valid without a warning", ({ file, text, execs }) => {
    const project = mkdtempSync(join(folder, "project-"));
    writeFileSync(join(project, file), text);
    const flow = join(project, "workflow.yaml");
    expect(daruma("init", flow).stdout).toContain(`wrote ${flow}, made from ${file}\n`);
    expect([...readFileSync(flow, "utf8").matchAll(/exec: (.*)/g)].map(([, exec]) => exec)).toEqual(execs);
    const { status, stderr } = daruma("validate", flow);
    expect([status, stderr]).toEqual([0, ""]);
  });

  it("keeps the edges of a Makefile", () => {
    const project = mkdtempSync(join(folder, "project-"));
    writeFileSync(
      join(project, "Makefile"),
      "deps:\n\tdate\nbuild: deps\n\tdate\ntest: deps\n\tdate\nlint:\n\tdate\n",
    );
    const flow = join(project, "workflow.yaml");
    daruma("init", flow);
    expect([daruma("validate", flow).status, daruma("run", flow, "--quiet").status]).toEqual([0, 0]);
    const { steps } = parse(readFileSync(flow, "utf8")) as {
      steps: { [id: string]: { depends_on?: string[] } };
    };
    expect(Object.entries(steps).map(([id, { depends_on }]) => [id, depends_on ?? []])).toEqual([
      ["deps", []],
      ["lint", []],
      ["build", ["deps"]],
      ["test", ["deps"]],
    ]);
  });

  it("writes the example where the project's files say nothing, are broken, or --example is given", {
    tags: ["C3"],
  }, () => {
    const project = mkdtempSync(join(folder, "project-"));
    writeFileSync(join(project, "package.json"), "{ broken");
    writeFileSync(join(project, "Makefile"), "test:\n\ttrue\n");
    const [fits, example] = [join(project, "a.yaml"), join(project, "b.yaml")];
    daruma("init", fits);
    daruma("init", example, "--example");
    expect(readFileSync(fits, "utf8")).toContain("exec: make test");
    expect(readFileSync(example, "utf8")).toContain("name: first");
  });

  it("refuses to overwrite a file", () => {
    writeFileSync(join(folder, "mine.yaml"), "mine\n");
    const refused = daruma("init", "mine.yaml");
    expect([refused.status, refused.stderr]).toEqual([
      2,
      "error FILE_EXISTS: mine.yaml already exists\nhint: Choose another name, or remove the file first.\n",
    ]);
    expect(readFileSync(join(folder, "mine.yaml"), "utf8")).toBe("mine\n");
  });

  it("says that a folder does not exist", () => {
    const refused = daruma("init", "nowhere/flow.yaml", "--json");
    expect(refused.status).toBe(2);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: "USAGE", message: expect.stringMatching(/^cannot write nowhere\/flow\.yaml: ENOENT/) },
    });
  });
});
