import { describe, expect, it } from "vitest";
import { edgesAmong, targetsOf } from "./init.js";

const WANTED = ["deps", "lint", "build", "test"];

function edges(makefile: string): { [target: string]: readonly string[] } {
  const rules = targetsOf(makefile);
  return Object.fromEntries(
    edgesAmong(
      WANTED.filter((target) => rules.has(target)),
      rules,
    ),
  );
}

describe("the edges of a Makefile", () => {
  it.each([
    ["each target's own", "deps:\nbuild: deps\ntest: deps\n", { build: ["deps"], test: ["deps"] }],
    ["none where there is none", "lint:\nbuild:\n\ttrue\n", {}],
    ["through other targets", "deps:\nlib: deps\nbuild: lib | cache\n", { build: ["deps"] }],
    [
      "of lines that go on, several targets and later rules",
      "deps:\nlint build: \\\n  deps\ntest:\ntest: build\n",
      {
        lint: ["deps"],
        build: ["deps"],
        test: ["build"],
      },
    ],
    ["one after the other where both make the same", "gen:\nbuild: gen\ntest: gen\n", { test: ["build"] }],
    ["also where that is a variable", "build: $(OBJECTS)\ntest: $(OBJECTS)\n", { test: ["build"] }],
    ["without the circle that make drops", "build: test\ntest: build\n", { build: ["test"] }],
    [
      "not of variables, recipes and special targets",
      "lint := build\n.PHONY: lint build\nlint:\n\techo build: lint\nbuild:\n",
      {},
    ],
  ])("are kept: %s", (_, makefile, expected) => {
    expect(edges(makefile)).toEqual(expected);
  });
});
