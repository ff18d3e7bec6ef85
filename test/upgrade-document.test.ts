import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MIGRATIONS } from "../src/store/sqlite/migrations.js";
import { repositoryRoot } from "./support/repository-root.js";

it("docs/upgrade.md says what every version of the schema added", () => {
  const text = readFileSync(join(repositoryRoot, "docs/upgrade.md"), "utf8");
  const rows = [...text.matchAll(/^\| (\d+)(?:(?: to |, )(\d+))? \| \S/gm)];
  const described = rows.flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
  );
  expect(described).toEqual(MIGRATIONS.map(({ version }) => version));
});
