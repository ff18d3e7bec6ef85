import { expect, it } from "vitest";
import type { ChannelSettings } from "../../src/settings/channels.js";
import { callIn, OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

const CHANNELS: readonly ChannelSettings[] = [
  {
    ...{ name: "hooks", type: "webhook", timeoutMs: 1_000, secret: { variable: "HOOK_KEY" } },
    url: "https://user:hunter2@hooks.example.com/services/hunter2",
  },
  { name: "team", type: "slack", timeoutMs: 1_000, secret: { variable: "SLACK_URL" } },
];

it("the settings of a server are shown without what is secret", { tags: ["N13"] }, async () => {
  const settings = await callIn(
    {
      ...bench.context,
      channels: { settings: CHANNELS, test: async () => null },
      notify: [{ on: ["held"], to: ["team"], when: null }],
      retention: () => ({
        ...{ logs: null, artifacts: null },
        runs: { olderThanMs: 86_400_000, keepLast: 5, maxBytes: null, status: ["completed"] },
      }),
    },
    "get_settings",
    {},
  );
  expect(settings).toMatchObject({
    channels: [
      { name: "hooks", type: "webhook", target: "hooks.example.com" },
      { name: "team", type: "slack", target: "Slack" },
    ],
    notify: [{ on: ["held"], to: ["team"], when: null }],
    ...{ breakers: [], clusters: [], differing: [] },
    retention: {
      runs: { older_than_ms: 86_400_000, keep_last: 5, max_bytes: null, status: ["completed"] },
      ...{ logs: null, artifacts: null },
    },
  });
  expect(JSON.stringify(settings)).not.toMatch(/hunter2|HOOK_KEY|SLACK_URL/);
});
