import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repositoryRoot } from "./support/cli.js";

const ROWS = [
  ...readFileSync(join(repositoryRoot, "docs/decisions.md"), "utf8").matchAll(/^\| (\d+) \| (.*?) \|/gm),
].map(([, number, decision]) => ({ number: Number(number), decision }));

it("every decision has a number of its own, from 1 on without a gap", () => {
  const numbers = ROWS.map(({ number }) => number).sort((one, other) => one - other);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

it("no decision is told twice", () => {
  const texts = ROWS.map(({ decision }) => decision);
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
});
