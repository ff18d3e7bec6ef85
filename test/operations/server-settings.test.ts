import { expect, it } from "vitest";
import type { ChannelSettings } from "../../src/file/settings/channels.js";
import { composeMessage } from "../../src/tell/messages/compose-message.js";
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
    ...{ breakers: [], clusters: [] },
    retention: {
      runs: { older_than_ms: 86_400_000, keep_last: 5, max_bytes: null, status: ["completed"] },
      ...{ logs: null, artifacts: null },
    },
  });
  expect(JSON.stringify(settings)).not.toMatch(/hunter2|HOOK_KEY|SLACK_URL/);
});

it("a breaker that somebody opens is told to those who hear of breakers, once, and that it is closed", {
  tags: ["N1"],
}, async () => {
  const own = `name: pay\nbreakers: { api: {} }\nnotify: [{ on: breaker, to: team }]
steps: { call: { exec: "true", uses: [api] } }\n`;
  await bench.run(own);
  await bench.run("name: else\nnotify: [{ on: breaker, to: others }]\nsteps: { a: { type: noop } }\n");
  const context = {
    ...bench.context,
    notify: [{ on: ["breaker" as const], to: ["ops"], when: null }],
  };
  const told = async () =>
    (await bench.context.store.listNotices({ limit: 10 })).map(({ kind, channel, facts }) => [
      ...[kind, channel, facts.name, facts.by, facts.reason],
    ]);
  const control = (action: "open" | "close", reason: string) =>
    callIn(context, "control_breaker", { name: "pay/api", action, reason });
  await control("open", "maintenance");
  const opened = [
    ["breaker", "ops", "pay/api", "tester", "maintenance"],
    ["breaker", "team", "pay/api", "tester", "maintenance"],
  ];
  expect((await told()).sort()).toEqual(opened);
  const [notice] = await bench.context.store.listNotices({ limit: 1 });
  expect(composeMessage(notice!, { page: null }).text.split("\n")[0]).toBe(
    "tester has opened the breaker pay/api (maintenance). Steps that use it wait until somebody closes it.",
  );
  await control("open", "still");
  await control("close", "done");
  expect((await told()).sort()).toEqual(opened);
});
