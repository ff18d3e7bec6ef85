import { type AnswerOf, count } from "./status.js";
import { exactTime, until } from "./times.js";

export type NotificationItem = AnswerOf<"/api/v1/notifications">["items"][number];
export type ServerSettings = AnswerOf<"/api/v1/settings">;

interface Said {
  readonly words: string;
  readonly tone: "ok" | "bad" | "gold" | "line";
  /** Further details, as a sentence. */
  readonly more: string;
}

/** The state of a message's delivery. */
export function deliveryState(item: NotificationItem, now: number): Said {
  const { state, tries, error, next_try_at, settled_at } = item;
  const last = error === null ? "" : `The last try failed: ${error}.`;
  switch (state) {
    case "delivered":
      return {
        words: "delivered",
        tone: "ok",
        more: tries > 1 ? `It took ${count(tries, "try", "tries")}.` : "",
      };
    case "undelivered":
      return {
        words: "undelivered",
        tone: "bad",
        more: `Given up after ${count(tries, "try", "tries")}${settled_at === null ? "" : ` at ${exactTime(settled_at)}`}. ${last}`,
      };
    case "due":
      return tries === 0
        ? { words: "being sent", tone: "line", more: "" }
        : {
            words: "trying again",
            tone: "gold",
            more: `${last} Next try ${next_try_at === null ? "soon" : until(next_try_at, now)}.`,
          };
    case "counted":
      return { words: "counted", tone: "line", more: "Not worth a message of its own." };
    case "new":
      return { words: "waiting", tone: "line", more: "It waits for a server that has the channel." };
  }
}

const KINDS: { readonly [kind in NotificationItem["kind"]]: string } = {
  held: "held",
  failed: "failed",
  handled: "failure handled",
  completed: "completed",
  dead_letter: "dead letter",
  question: "question",
  recovered: "recovered",
  deadline: "deadline",
  breaker: "breaker",
  quarantined: "worker in quarantine",
};

export function kindWords(kind: NotificationItem["kind"]): string {
  return KINDS[kind];
}

/** A text such as "again, the 10th". */
export function toldWords({ told_as, count: times }: NotificationItem): string {
  if (told_as === "reminder") return "reminder: it still waits";
  return told_as === "again" && times !== null ? `seen ${times} times` : "";
}
