import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder, OK } from "../support/cli-folder.js";

const cli = new CliFolder();

/** Every module that the command line asks for, by the names in its imports. */
async function loadedBy(...args: string[]): Promise<string[]> {
  const list = join(cli.path, `loaded-${args[0]}.txt`);
  const hooks = `import { appendFileSync } from "node:fs";
export async function resolve(name, context, next) {
  const found = await next(name, context);
  appendFileSync(${JSON.stringify(list)}, found.url + "\\n");
  return found;
}`;
  const hooksUrl = pathToFileURL(cli.write("hooks.mjs", hooks)).href;
  const start = cli.write(
    "start.mjs",
    `import { register } from "node:module";\nregister(${JSON.stringify(hooksUrl)});`,
  );
  const result = await runCli([...args, "--output-dir", cli.outputDir], {
    NODE_OPTIONS: `--import=${pathToFileURL(start).href}`,
  });
  expect(result.exitCode).toBe(0);
  return existsSync(list) ? readFileSync(list, "utf8").split("\n") : [];
}

describe("what a command line loads", () => {
  it("is no schema, table or server for a run, nor for the version", async () => {
    for (const args of [["run", cli.write("ok.yaml", OK)], ["--version"]]) {
      const loaded = await loadedBy(...args);
      expect(loaded.length).toBeGreaterThan(5);
      const heavy =
        /\/zod\/|operations\/table\/|\/fastify\/|modelcontextprotocol|\/postgres\/src|remote-client/;
      expect(loaded.filter((url) => heavy.test(url))).toEqual([]);
    }
  });

  it("is the table for the commands that are made from it", async () => {
    expect((await loadedBy("list")).some((url) => url.includes("operations/table/"))).toBe(true);
  });
});
