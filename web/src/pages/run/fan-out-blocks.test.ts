import { expect, it } from "vitest";
import { fanOutBlocks } from "./fan-out-blocks.js";

const job = (step: string, scope: string, signature: string) => ({ step, scope, signature });

it("tells all items of a fan-out step as one block with its kinds, and every other job by itself", () => {
  const [a, b, c] = [
    job("decode", "root/list[0]", "x"),
    job("load", "root", "x"),
    job("decode", "root/list[1]", "y"),
  ];
  const [d, e] = [job("decode", "root/list[2]", "y"), job("load", "root", "x")];
  expect(fanOutBlocks([a, b, c, d, e], ({ signature }) => signature)).toEqual([
    { items: [a, c, d], kinds: [[c, d], [a]] },
    { items: [b], kinds: [[b]] },
    { items: [e], kinds: [[e]] },
  ]);
});
