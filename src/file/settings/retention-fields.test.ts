import { describe, expect, it } from "vitest";
import { loadSettings } from "./load-settings.js";

function read(text: string) {
  const loaded = loadSettings(text, "daruma.config.yaml");
  return loaded.ok
    ? loaded.value
    : loaded.problems.map(({ line, column, message, hint }) => [`${line}:${column}`, message, hint]);
}

describe("retention in the settings", () => {
  it("has bounds by age, count and size for runs, logs and artifacts", () => {
    const text = `retention:
  runs: { older_than: 90d, keep_last: 500, status: [completed, completed] }
  logs: { max_size: 20g }
`;
    expect(read(text)).toMatchObject({
      retention: {
        runs: { olderThanMs: 90 * 86_400_000, keepLast: 500, maxBytes: null, status: ["completed"] },
        logs: {
          olderThanMs: null,
          keepLast: null,
          maxBytes: 20 * 1024 ** 3,
          status: ["completed", "failed", "canceled"],
        },
        artifacts: null,
      },
    });
  });

  it("keeps everything where nothing is said", () => {
    expect(read("breakers: {}")).toMatchObject({ retention: { runs: null, logs: null, artifacts: null } });
  });

  it.each([
    [
      "runs: {}",
      "retention.runs has no bound",
      "Add older_than, keep_last or max_size, or remove it to keep all runs.",
    ],
    ["runs: { status: [failed] }", "retention.runs has no bound", expect.anything()],
    ["logs: { older_than: 5m }", "`5m` is too short", "Write an age such as 12h, 30d or P90D, at least 1h."],
    ["logs: { older_than: old }", "`old` is not a duration", expect.anything()],
    ["logs: { max_size: big }", "`big` is not a size", expect.anything()],
    ["runs: { keep_last: -1 }", expect.stringContaining("-1"), expect.anything()],
    ["runs: { keep_last: 1, status: [held] }", expect.stringContaining("held"), expect.anything()],
    ["runs: { keep_lats: 1 }", expect.stringContaining("keep_lats"), expect.stringContaining("keep_last")],
  ])("refuses %s with the place and a hint", (given, message, hint) => {
    const problems = read(`retention:\n  ${given}`);
    expect(problems).toContainEqual([expect.stringMatching(/^2:/), message, hint]);
  });
});

describe("limits in the settings", () => {
  it("are those of the flags of serve", () => {
    expect(read("limits: { requests_per_minute: 0, max_parallel: 4 }")).toMatchObject({
      limits: { requestsPerMinute: 0, maxParallel: 4 },
    });
    expect(read("limits: { rate: 3 }")).toContainEqual([
      "1:11",
      expect.stringContaining("rate"),
      expect.anything(),
    ]);
  });
});
