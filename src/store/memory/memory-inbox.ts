import type { ChangeListeners } from "../change-listeners.js";
import { toStorableText } from "../storable-text.js";
import type { Store } from "../store.js";
import type { OpenTables } from "./memory-tables.js";

type InboxVerb = "sendCommand" | "readInbox" | "answerCommand" | "readAnswer" | "forgetCommands";

export function createInboxVerbs(open: OpenTables, listeners: ChangeListeners): Pick<Store, InboxVerb> {
  return {
    async sendCommand({ runId, key: given, command, at }) {
      const key = toStorableText(given);
      const tables = open();
      const entries = [...tables.inbox.values()];
      const there = entries.find((entry) => entry.runId === runId && entry.key === key);
      const id = there?.id ?? tables.lastCommandId + 1;
      if (there === undefined) {
        tables.lastCommandId = id;
        tables.inbox.set(id, { id, runId, key, command: toStorableText(command), at, answer: null });
      }
      listeners.tell("inbox", runId);
      return id;
    },
    readInbox: async (runIds) =>
      [...open().inbox.values()]
        .filter((entry) => entry.answer === null && runIds.includes(entry.runId))
        .map(({ id, runId, command }) => ({ id, runId, command })),
    async answerCommand(id, answer) {
      const entry = open().inbox.get(id);
      if (entry === undefined || entry.answer !== null) return;
      entry.answer = toStorableText(answer);
      listeners.tell("answer", entry.runId);
    },
    readAnswer: async (id) => open().inbox.get(id)?.answer ?? null,
    async forgetCommands(runId, before) {
      const { inbox } = open();
      for (const entry of inbox.values())
        if (entry.runId === runId && entry.at < before) inbox.delete(entry.id);
    },
  };
}
