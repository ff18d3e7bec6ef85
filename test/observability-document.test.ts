import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { SERIES } from "../src/tell/metrics/measurement.js";

it("docs/observability.md names every series with its labels", () => {
  const rows = readFileSync("docs/observability.md", "utf8")
    .split("\n")
    .map(
      (line) =>
        /^\| `((?:task|daruma)\.[\w.]+)` \| ([^|]*) \|/.exec(line) ??
        /^\| `((?:task|daruma)\.[\w.]+)` \|( )\|/.exec(line),
    )
    .filter((row) => row !== null)
    .map(([, name, labels]) => [name, [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label)]);
  expect(rows).toEqual(Object.entries(SERIES).map(([name, { labels }]) => [name, [...labels]]));
});
