import { describe, expect, it } from "vitest";
import { definitionOf, fullWarningsOf, summaryOf } from "../../../test/support/workflow-text.js";

const monitorOf = (value: string) =>
  definitionOf(`resource_monitor: ${value}\njobs: [{ name: a, command: x }]`).resourceMonitor;

describe("resource_monitor", () => {
  it.each([
    ["{ granularity: time_series }", { sampleIntervalMs: 10_000 }],
    ["{ granularity: time_series, sample_interval_seconds: 2 }", { sampleIntervalMs: 2_000 }],
    ["{ granularity: time_series, sample_interval_seconds: 500ms }", { sampleIntervalMs: 500 }],
    ["{ enabled: true, jobs: { granularity: time_series } }", { sampleIntervalMs: 10_000 }],
    ["{ enabled: false, granularity: time_series }", undefined],
    ["{ granularity: time_series, jobs: { enabled: false } }", undefined],
    ["{ granularity: time_series, jobs: { granularity: null } }", { sampleIntervalMs: 10_000 }],
    ["{ granularity: summary, sample_interval_seconds: 1 }", undefined],
    ["{}", undefined],
    ["null", undefined],
  ])("reads %s", (value, expected) => {
    expect(monitorOf(value)).toEqual(expected);
  });

  it("works beside steps", () => {
    const text = "resource_monitor: { granularity: time_series }\nsteps: { a: { exec: x } }";
    expect(definitionOf(text).resourceMonitor).toEqual({ sampleIntervalMs: 10_000 });
  });

  it("warns of what has no effect, and only where it is asked for", () => {
    const text = (value: string) => `resource_monitor: ${value}\njobs: [{ name: a, command: x }]`;
    expect(fullWarningsOf(text("{ generate_plots: true, compute_node: {} }"))).toMatchObject([
      {
        code: "NO_EFFECT",
        path: "resource_monitor.generate_plots",
        hint: "`daruma logs RUN STEP --usage` prints the samples as CSV.",
      },
      { code: "NO_EFFECT", path: "resource_monitor.compute_node" },
    ]);
    expect(fullWarningsOf(text("{ generate_plots: false }"))).toEqual([]);
  });

  it.each([
    ["{ granularity: daily }", "INVALID_VALUE 1:34 resource_monitor.granularity"],
    ["{ sample_interval_seconds: 0 }", "INVALID_VALUE 1:46 resource_monitor.sample_interval_seconds"],
    ["{ interval: 1 }", "UNKNOWN_KEY 1:21 resource_monitor.interval"],
    ["true", "WRONG_TYPE 1:19 resource_monitor"],
  ])("refuses %s", (value, summary) => {
    expect(summaryOf(`resource_monitor: ${value}\njobs: [{ name: a, command: x }]`)).toEqual([summary]);
  });
});
