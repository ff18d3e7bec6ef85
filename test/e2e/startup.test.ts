import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";
import { describe, expect, it } from "vitest";
import { repositoryRoot, runCli } from "../support/cli.js";
import { CliFolder, OK } from "../support/cli-folder.js";

const cli = new CliFolder();

/** Every file that the command line asks Node for, on its main thread. */
async function loadedBy(...args: string[]): Promise<string[]> {
  const list = cli.write("loaded.txt", "");
  const hook = cli.write(
    "hook.cjs",
    `if (require("node:worker_threads").isMainThread) {
  const Module = require("node:module");
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (...asked) {
    const file = resolve.apply(this, asked);
    require("node:fs").appendFileSync(${JSON.stringify(list)}, file + "\\n");
    return file;
  };
}`,
  );
  const result = await runCli([...args, "--output-dir", cli.outputDir], {
    NODE_OPTIONS: `--require=${hook}`,
  });
  expect(result.exitCode).toBe(0);
  const files = readFileSync(list, "utf8").split("\n");
  return files.filter((file) => file.startsWith("/"));
}

/** The parts of the program that a command has used, by what is kept of them for the next. */
async function compiledFor(...args: string[]): Promise<string[]> {
  const base = join(cli.path, `cache-of-${args[0]}`);
  mkdirSync(base, { mode: 0o700 });
  const env = { DARUMA_NO_CACHE: "", XDG_CACHE_HOME: base };
  expect(await runCli([...args, "--output-dir", cli.outputDir], env)).toMatchObject({ exitCode: 0 });
  const kept = readdirSync(join(base, "daruma"));
  return kept.map((name) => name.split("_")[1]!).sort();
}

/** What loading these modules runs of others, too: their imports and those of these, but not what is imported later. */
async function evaluatedWith(modules: readonly string[]): Promise<Set<string>> {
  const { metafile } = await build({
    absWorkingDir: repositoryRoot,
    entryPoints: ["src/cli/command-line.ts"],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    write: false,
    metafile: true,
    outdir: "unwritten",
  });
  return closure(metafile, modules);
}

function closure({ inputs }: Metafile, modules: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const open = [...modules];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const imported of inputs[path]?.imports ?? [])
      if (imported.kind === "import-statement") open.push(imported.path);
  }
  return seen;
}

describe("what a command line loads", () => {
  it("is the program, without a file of any package", async () => {
    const dist = (name: string): string => join(repositoryRoot, "dist/cli", name);
    expect(await loadedBy("run", cli.write("ok.yaml", OK))).toEqual([dist("main.js")]);
    expect(await loadedBy("list")).toEqual([dist("main.js")]);
  });

  it("is for a run only the part of the program that runs need", async () => {
    expect(await compiledFor("run", cli.write("ok.yaml", OK))).toEqual(["run-modules"]);
    expect(await compiledFor("list")).toEqual(["other-modules", "run-modules"]);
  });

  it("has no schema, table or server in it that a run would have to start", async () => {
    const start = ["src/cli/command-line.ts", "src/cli/commands/run/run.ts", "src/cli/follow-run.ts"];
    const engine = ["src/host/daruma.ts", "src/operations/workflows/workflow-source.ts"];
    const render = ["src/cli/render/plain-progress.ts", "src/cli/render/summary.ts"];
    const evaluated = [...(await evaluatedWith([...start, ...engine, ...render]))];
    expect(evaluated).toContain("src/core/decide/decide.ts");
    const heavy =
      /^(zod|fastify|postgres|ai)$|^@ai-sdk|^@fastify|^@modelcontextprotocol|operations\/operations\.ts|remote-client/;
    expect(evaluated.filter((path) => heavy.test(path))).toEqual([]);
  });

  it("has the table for the commands that are made from it", async () => {
    const evaluated = [...(await evaluatedWith(["src/cli/declare/declare-operations.ts"]))];
    expect(evaluated.some((path) => path === "src/operations/operations.ts")).toBe(true);
  });
});
