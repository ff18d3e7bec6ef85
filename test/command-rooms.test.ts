import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../src/operations/operations.js";
import { repositoryRoot } from "./support/repository-root.js";

const PRESENTERS = readFileSync(join(repositoryRoot, "src/cli/declare/presenters.ts"), "utf8");
const ENTRY = /^ {2}"?([a-z -]+)"?: async \(\) => \(await import\("\.\.\/commands\/(\w+)\//gm;
const ROOM_OF = new Map([...PRESENTERS.matchAll(ENTRY)].map(([, words, room]) => [words!, room!]));

const COMMANDS = OPERATIONS.flatMap(({ cli, effect }) =>
  cli.map(({ words }) => ({ words, effect, room: ROOM_OF.get(words) })),
).filter(({ room }) => room !== undefined);

describe("the folder of a command", () => {
  it("is known for every command that has words of its own", () => {
    expect(COMMANDS).toHaveLength(ROOM_OF.size);
  });

  it.each(COMMANDS)("of `$words`: look only reads, decide changes something", ({ effect, room }) => {
    expect(room).not.toBe(effect === "reads" ? "decide" : "look");
  });
});
