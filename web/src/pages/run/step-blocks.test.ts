import { expect, it } from "vitest";
import { stepBlocks } from "./story-lines.js";

const job = (step: string, scope: string, signature: string, family: string | null = null) => ({
  ...{ step, family, scope, signature },
});

it("tells all items of a fan-out step as one block with its kinds, and every other job by itself", () => {
  const [a, b, c] = [
    job("decode", "root/list[0]", "x"),
    job("load", "root", "x"),
    job("decode", "root/list[1]", "y"),
  ];
  const [d, e] = [job("decode", "root/list[2]", "y"), job("load", "root", "x")];
  expect(stepBlocks([a, b, c, d, e], ({ signature }) => signature)).toEqual([
    { items: [a, c, d], kinds: [[c, d], [a]] },
    { items: [b], kinds: [[b]] },
    { items: [e], kinds: [[e]] },
  ]);
});

it("tells all steps of a family as one block with its kinds", () => {
  const [a, b, c] = [
    job("train_a", "root", "y", "train_{i}"),
    job("train_b", "root", "x", "train_{i}"),
    job("train_c", "root", "y", "train_{i}"),
  ];
  const other = job("score_a", "root", "x", "score_{i}");
  expect(stepBlocks([a, other, b, c], ({ signature }) => signature)).toEqual([
    { items: [a, b, c], kinds: [[a, c], [b]] },
    { items: [other], kinds: [[other]] },
  ]);
});
