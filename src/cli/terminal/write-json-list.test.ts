import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainPaint } from "../render/paint.js";
import { type Channel, writeJson, writeJsonWithList } from "./channel.js";

function recorder(isTerminal: boolean): Channel & { readonly written: string[] } {
  const written: string[] = [];
  return {
    written,
    isTerminal,
    paint: plainPaint,
    write: (text) => void written.push(String(text)),
    width: () => 80,
    height: () => 24,
  };
}

async function* oneByOne(items: readonly unknown[]): AsyncGenerator<unknown> {
  yield* items;
}

describe("an object with one long list", () => {
  const value = fc.jsonValue().filter((json) => json !== undefined);
  const dictionary = fc.dictionary(fc.string(), value, { maxKeys: 4 });

  it("is written item by item as it would be written whole", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(dictionary, fc.array(value), dictionary, fc.boolean()),
        async ([before, items, after, isTerminal]) => {
          const whole = { ...before, "the list": items, ...after };
          const [one, other] = [recorder(isTerminal), recorder(isTerminal)];
          writeJson(one, whole);
          await writeJsonWithList(other, { ...whole, "the list": [] }, "the list", oneByOne(items));
          expect(other.written.join("")).toBe(one.written.join(""));
        },
      ),
    );
  });

  it("is written while its items come, not when all are there", async () => {
    const channel = recorder(false);
    const long = "x".repeat(70_000);
    const writtenBefore: number[] = [];
    async function* watched(): AsyncGenerator<string> {
      for (let n = 0; n < 3; n += 1) {
        writtenBefore.push(channel.written.length);
        yield long;
      }
    }
    await writeJsonWithList(channel, { jobs: [] }, "jobs", watched());
    expect(writtenBefore).toEqual([0, 1, 2]);
  });
});
