import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { licencesIn, packagesMappedIn, packagesWithin } from "../support/bundled-packages.js";
import { repositoryRoot } from "../support/cli.js";

/** In a process of its own: another copy of SQLite beside this one's would break its locks. */
function inDist(code: string): string {
  return execFileSync(process.execPath, ["-e", code], {
    cwd: join(repositoryRoot, "dist/cli"),
    encoding: "utf8",
  });
}

it("the copy of SQLite in the package opens a database", () => {
  const code = `const { DatabaseSync } = require("./sqlite/driver/index.js");
    const db = new DatabaseSync(":memory:");
    console.log(JSON.stringify(db.prepare("SELECT 1 + 1 AS two").get()));`;
  expect(JSON.parse(inDist(code))).toEqual({ two: 2 });
});

it("the packages of a server load from the one file that has them", () => {
  const code = `const packages = require("./server-packages.js");
    console.log(Object.values(packages).map((load) => typeof load()).join(" "));`;
  expect(inDist(code).trim()).toMatch(/^((function|object) ?){7}$/);
});

const licences = (file: string) => licencesIn(readFileSync(join(repositoryRoot, file), "utf8"));

it("every package whose code is in the command line is named, and its licence is there", async () => {
  const { names, bare } = licences("dist/cli/THIRD-PARTY-LICENCES.txt");
  expect(bare).toEqual([]);
  const mapped = packagesMappedIn(join(repositoryRoot, "dist/cli"));
  expect(mapped).toEqual(expect.arrayContaining(["commander", "yaml", "zod"]));
  const server = inDist('console.log(Object.keys(require("./server-packages.js")).join(" "))')
    .trim()
    .split(" ");
  const contents = server.map((name) => `require(${JSON.stringify(name)});`).join("\n");
  const served = await packagesWithin({ stdin: { contents, resolveDir: repositoryRoot } });
  expect(served).toEqual(expect.arrayContaining(["fastify", "@modelcontextprotocol/sdk"]));
  expect(names).toEqual(expect.arrayContaining([...mapped, ...served, "@photostructure/sqlite"]));
});

it("every package whose code is in the page is named, and its licence is there", async () => {
  const { names, bare } = licences("dist/web/THIRD-PARTY-LICENCES.txt");
  expect(bare).toEqual([]);
  const within = await packagesWithin({ entryPoints: ["web/src/main.tsx"] });
  expect(within).toEqual(expect.arrayContaining(["react", "@xyflow/react", "@codemirror/view"]));
  expect(names).toEqual(expect.arrayContaining(within));
});

it("a report names the packages whose code it has, with their licences, in a comment", async () => {
  const [report, comment = ""] = readFileSync(join(repositoryRoot, "dist/report.html"), "utf8").split("<!--");
  expect(report).toMatch(/<\/html>\s*$/);
  expect(comment).toMatch(/-->\s*$/);
  expect(comment).not.toMatch(/--(?!>)/);
  const { names, bare } = licencesIn(comment);
  expect(bare).toEqual([]);
  const within = await packagesWithin({ entryPoints: ["web/src/report/main.tsx"] });
  expect(within).toEqual(expect.arrayContaining(["react", "react-dom", "anser"]));
  expect(names).toEqual(expect.arrayContaining(within));
  expect(comment).toContain("Copyright (c) Meta Platforms, Inc. and affiliates.");
});
