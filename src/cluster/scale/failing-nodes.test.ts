import { describe, expect, it } from "vitest";
import { FailingNodes } from "./failing-nodes.js";

function failAtOnce(nodes: FailingNodes, node: string, ...jobs: readonly number[]): void {
  for (const jobId of jobs) nodes.note({ node, jobId, succeeded: false, durationMs: 50 });
}

function succeed(nodes: FailingNodes, node: string): void {
  nodes.note({ node, jobId: 99, succeeded: true, durationMs: 50 });
}

describe("a failing node", () => {
  it("is one on which three jobs failed at once while another node did well", () => {
    const nodes = new FailingNodes();
    succeed(nodes, "node2");
    failAtOnce(nodes, "node1", 1, 2);
    expect(nodes.failing()).toEqual([]);
    failAtOnce(nodes, "node1", 3);
    expect(nodes.failing()).toEqual(["node1"]);
  });

  it("is none where everything fails everywhere, or the same job fails again and again", () => {
    const nodes = new FailingNodes();
    failAtOnce(nodes, "node1", 1, 2, 3);
    failAtOnce(nodes, "node2", 1, 2, 3);
    expect(nodes.failing()).toEqual([]);
    const same = new FailingNodes();
    succeed(same, "node2");
    failAtOnce(same, "node1", 1, 1, 1, 1);
    expect(same.failing()).toEqual([]);
  });

  it("begins anew after a success, a slow failure, or once it is left out", () => {
    const nodes = new FailingNodes();
    succeed(nodes, "node2");
    failAtOnce(nodes, "node1", 1, 2);
    nodes.note({ node: "node1", jobId: 3, succeeded: false, durationMs: 60_000 });
    failAtOnce(nodes, "node1", 4, 5);
    expect(nodes.failing()).toEqual([]);
    failAtOnce(nodes, "node1", 6);
    expect(nodes.failing()).toEqual(["node1"]);
    nodes.forget("node1");
    expect(nodes.failing()).toEqual([]);
  });
});
