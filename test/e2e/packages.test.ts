import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
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

it("every package whose code is in the bundle is named with its licence", () => {
  const text = readFileSync(join(repositoryRoot, "dist/cli/THIRD-PARTY-LICENCES.txt"), "utf8");
  for (const name of [
    "commander",
    "yaml",
    "zod",
    "fastify",
    "@modelcontextprotocol/sdk",
    "@photostructure/sqlite",
  ])
    expect(text).toMatch(titleOf(name));
});

const titleOf = (name: string): RegExp => new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)$`, "m");

it("every package whose code is in the page is named with its licence", () => {
  const text = readFileSync(join(repositoryRoot, "dist/web/THIRD-PARTY-LICENCES.txt"), "utf8");
  const inEveryPage = [
    "react",
    "react-dom",
    "scheduler",
    "anser",
    "@xyflow/react",
    "@xyflow/system",
    "d3-zoom",
  ];
  for (const name of [...inEveryPage, "@codemirror/view", "@lezer/common"])
    expect(text).toMatch(titleOf(name));
  expect(text).toContain("Copyright (c) Meta Platforms, Inc. and affiliates.");
});

it("a report names the packages whose code it has, and their licences, in a comment", () => {
  const [report, comment] = readFileSync(join(repositoryRoot, "dist/report.html"), "utf8").split("<!--");
  expect(report).toMatch(/<\/html>\s*$/);
  expect(comment).toMatch(/-->\s*$/);
  for (const name of ["react", "react-dom", "scheduler"]) expect(comment).toMatch(titleOf(name));
  expect(comment).toContain("Copyright (c) Meta Platforms, Inc. and affiliates.");
  expect(comment).not.toMatch(/--(?!>)/);
});
