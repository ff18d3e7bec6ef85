import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { NOTICE_KINDS } from "../../core/model/definition.js";
import { NOTICE_STATES, type Notice } from "../../core/notices/notice.js";
import { channelTarget } from "../../file/settings/channels.js";
import { OPEN_STATES } from "../../store/outbox-rows.js";
import { subjectOf } from "../../tell/messages/message-words.js";
import { iso } from "../../tell/run-report.js";
import { type Answer, operation } from "../operation.js";
import { limit, listOf } from "../schemas.js";

const MAX_NAME_CHARS = 100;
const MAX_CURSOR_CHARS = 200;
const time = z.string().nullable();
const channel = z.string().min(1).max(MAX_NAME_CHARS);

const item = z.object({
  id: z.string(),
  at: z.string(),
  kind: z.enum(NOTICE_KINDS),
  channel: z.string(),
  state: z.enum(NOTICE_STATES),
  subject: z.string(),
  workflow: z.string().nullable(),
  run_id: z.number().nullable(),
  step: z.string().nullable(),
  signature: z.string().nullable(),
  told_as: z.enum(["first", "again", "reminder", "recovered"]).nullable(),
  count: z.number().nullable(),
  tries: z.number(),
  error: z.string().nullable(),
  next_try_at: time,
  settled_at: time,
});

export const listNotifications = operation({
  name: "list_notifications",
  summary: "list the messages to people: sent, waiting to be sent, or not delivered",
  description:
    "Lists notifications, newest first: `delivered` ones have arrived, `due` ones are being sent, `undelivered` ones were given up after 24 hours. `new` ones wait for a process that has their channel.",
  details:
    "`counted` ones were not worth a message (not the 1st, 10th or 100th of their kind, muted, or not wanted by `when`); they are listed only when asked for. Kept for 30 days. `next` is the `after` of the next page, null at the end.",
  role: "viewer",
  audience: "people",
  effect: "reads",
  input: z.strictObject({
    channel: channel.optional().describe("Only those to this channel."),
    state: listOf(z.union([z.enum(NOTICE_STATES), z.literal("all")]))
      .optional()
      .describe("new, due, delivered, undelivered, counted or all; by default all but counted."),
    run_id: z.coerce.number().int().positive().optional().describe("Only those about this run."),
    limit,
    after: z.string().max(MAX_CURSOR_CHARS).optional().describe("`next` of the page before."),
  }),
  output: z.object({ items: z.array(item), next: z.string().nullable() }),
  rest: { method: "GET", path: "/notifications" },
  cli: [
    {
      words: "notifications",
      positional: [],
      examples: ["daruma notifications", "daruma notifications --state undelivered --channel ops"],
    },
  ],
  store: "optional",
  async handler({ store }, { channel: name, state, run_id, limit: most, after }) {
    const asked = state ?? NOTICE_STATES.filter((each) => each !== "counted");
    const states = asked.filter((each) => each !== "all");
    const notices = await store.listNotices({
      limit: most,
      ...(name === undefined ? {} : { channels: [name] }),
      ...(asked.includes("all") ? {} : { states }),
      ...(run_id === undefined ? {} : { runIds: [run_id] }),
      ...(after === undefined ? {} : { after: placeOf(after) }),
    });
    const last = notices.length < most ? undefined : notices.at(-1);
    return { items: notices.map(itemOf), next: last === undefined ? null : `${last.at} ${last.id}` };
  },
});

function placeOf(cursor: string): Pick<Notice, "at" | "id"> {
  const [at, id] = cursor.split(" ", 2);
  if (!/^\d+$/.test(at ?? "") || id === undefined)
    throw new DarumaError("INVALID_INPUT", "`after` is not `next` of a page", {
      hint: "Leave it out to begin with the newest.",
    });
  return { at: Number(at), id };
}

function itemOf(notice: Notice): Answer<typeof item> {
  const { id, at, kind, channel: to, state, workflow, run_id, step, signature, told, tries, error } = notice;
  const isOpen = (OPEN_STATES as readonly string[]).includes(state);
  return {
    ...{ id, at: iso(at), kind, channel: to, state, subject: subjectOf(notice) },
    ...{ workflow, run_id, step, signature, told_as: told?.as ?? null, count: told?.count ?? null },
    ...{ tries, error, next_try_at: isOpen && tries > 0 ? iso(notice.next_at) : null },
    settled_at: notice.settled_at === null ? null : iso(notice.settled_at),
  };
}

export const testChannel = operation({
  name: "test_channel",
  summary: "send a test message to a channel of the settings",
  description: "Sends a test message to a channel, and says whether it arrived.",
  role: "operator",
  audience: "people",
  effect: "changes",
  input: z.strictObject({ channel: channel.describe("A channel of the settings.") }),
  output: z.object({ channel: z.string(), type: z.string(), target: z.string() }),
  rest: { method: "POST", path: "/notifications/test" },
  cli: [
    {
      words: "notifications test",
      positional: ["channel"],
      examples: ["daruma notifications test ops --config daruma.config.yaml"],
    },
  ],
  store: "none",
  async handler({ channels }, { channel: name }) {
    const known = channels?.settings ?? [];
    const found = known.find((each) => each.name === name);
    if (found === undefined) {
      const names = known.map((each) => each.name).join(", ");
      throw new DarumaError("UNKNOWN_CHANNEL", `there is no channel ${name}`, {
        hint:
          names === ""
            ? {
                typed: "Name the settings with --config, or the server with --server.",
                asked: "The server's settings have no channels.",
              }
            : `Channels: ${names}.`,
      });
    }
    const failure = await channels!.test(found);
    if (failure !== null) throw new DarumaError("CHANNEL_FAILED", `channel ${name}: ${failure}`);
    return { channel: name, type: found.type, target: channelTarget(found) };
  },
});
