import { describe, expect, it } from "vitest";
import { jobStatus, runStatus } from "../src/operations/schemas.js";
import { blocksOf } from "./support/document-blocks.js";

/** The states that a picture of docs/concepts.md draws: both ends of each arrow. */
function drawn(what: string): string[] {
  const picture = blocksOf("docs/concepts.md").find(
    ({ language, text }) => language === "mermaid" && text.includes(`state "${what}"`),
  );
  const ends = [...picture!.text.matchAll(/^ +(\S+) --> (\w+)/gm)].flatMap(([, from, to]) => [from, to]);
  return [...new Set(ends)].filter((state) => state !== "[*]") as string[];
}

describe("the pictures of docs/concepts.md", () => {
  it("draw every status of a job, and no other", () => {
    expect(drawn("job").sort()).toEqual([...jobStatus.options].sort());
  });

  it("draw every status of a run, and no other", () => {
    expect(drawn("run").sort()).toEqual([...runStatus.options].sort());
  });
});
