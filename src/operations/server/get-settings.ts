import { z } from "zod";
import { NOTICE_KINDS } from "../../core/model/definition.js";
import { CHANNEL_TYPES, channelTarget } from "../../file/settings/channels.js";
import { FINAL_STATUSES, NO_RETENTION } from "../../file/settings/retention.js";
import { CLUSTER_TYPES } from "../../file/settings/settings.js";
import { operation } from "../operation.js";
import { presentServers, serverItem } from "./present-servers.js";
import { shownLimits, shownRetention } from "./shown-settings.js";

const bound = z.number().nullable().describe("Null: no such bound.");
const accepted = z.number().nullable().describe("0: no limit. Null: the usual limit.");
const rule = z
  .object({
    older_than_ms: bound,
    keep_last: bound.describe("Of each workflow; null: no such bound."),
    max_bytes: bound,
    status: z.array(z.enum(FINAL_STATUSES)),
  })
  .nullable()
  .describe("Null: nothing of the kind is removed.");

export const getSettings = operation({
  name: "get_settings",
  summary: "show the settings that a server works with",
  description:
    "Returns the settings of the server: channels, who is told of what, shared breakers, clusters, limits and how long runs are kept. Secrets are never part of it.",
  details:
    "On a command line they come from the file that --config names. `servers` are those of the store that were heard of lately.",
  role: "viewer",
  audience: "people",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({
    channels: z.array(
      z.object({
        name: z.string(),
        type: z.enum(CHANNEL_TYPES),
        target: z.string().describe("Where its messages go, without what is secret."),
      }),
    ),
    notify: z.array(
      z.object({ on: z.array(z.enum(NOTICE_KINDS)), to: z.array(z.string()), when: z.string().nullable() }),
    ),
    breakers: z.array(z.string()),
    clusters: z.array(z.object({ name: z.string(), type: z.enum(CLUSTER_TYPES), tags: z.array(z.string()) })),
    limits: z.object({
      requests_per_minute: accepted,
      runs_per_minute: accepted,
      streams_per_token: accepted,
      max_connections: accepted,
      max_parallel: accepted.describe("0: only workers run steps. Null: the number of processors."),
    }),
    retention: z.object({ runs: rule, logs: rule, artifacts: rule }),
    servers: z.array(z.object({ host: z.string(), pid: z.number(), url: z.string(), seen_at: z.string() })),
  }),
  rest: { method: "GET", path: "/settings" },
  cli: [
    {
      words: "settings",
      positional: [],
      examples: [
        "daruma settings --server http://127.0.0.1:7420",
        "daruma settings --config daruma.config.yaml",
      ],
    },
  ],
  store: "optional",
  async handler({ store, now, channels, notify, breakers, clusters, limits, retention }) {
    const kept = (await retention?.()) ?? NO_RETENTION;
    return {
      channels: (channels?.settings ?? []).map((channel) => ({
        ...{ name: channel.name, type: channel.type, target: channelTarget(channel) },
      })),
      notify: (notify ?? []).map(({ on, to, when }) => ({ on, to, when })),
      breakers: (breakers ?? []).map(({ name }) => name),
      clusters: (clusters?.settings ?? []).map(({ name, type, tags }) => ({ name, type, tags })),
      limits: shownLimits((await limits?.()) ?? {}),
      retention: shownRetention(kept),
      servers: (await presentServers(store, now())).map(serverItem),
    };
  },
});
