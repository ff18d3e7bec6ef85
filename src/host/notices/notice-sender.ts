import type { Run } from "../../core/model/run.js";
import type { ChannelSettings } from "../../file/settings/channels.js";
import type { Clock } from "../../run/engine/clock.js";
import { systemClock } from "../../run/engine/clock.js";
import type { NoticePorts } from "../../run/engine/notices/notice-ports.js";
import { Notifier } from "../../run/engine/notices/notifier.js";
import { createSandbox } from "../../run/sandbox/quickjs-sandbox.js";
import type { Sandbox } from "../../run/sandbox/sandbox.js";
import { isDead } from "../../store/lease-owner.js";
import type { LeaseOwner } from "../../store/store.js";
import type { Environment } from "../../tell/channels/find-secret.js";
import { sendMessage } from "../../tell/channels/send-message.js";
import { composeMessage } from "../../tell/messages/compose-message.js";

export interface NotifierOptions extends Pick<NoticePorts, "store" | "ownRuns"> {
  readonly owner: LeaseOwner;
  readonly channels: readonly ChannelSettings[];
  readonly env: Environment;
  /** Returns the address of the page; empty if unknown. */
  readonly page: () => string;
  readonly tell?: (text: string) => void;
  readonly clock?: Clock;
}

/** A process that sends what is in the outbox. Stopped in good order, it leaves nothing under way. */
export class NoticeSender {
  readonly notifier: Notifier;
  private sandbox: Sandbox | null = null;
  /** Channels of workflows that do not exist here. Each is reported once. */
  private readonly missing = new Set<string>();

  constructor(private readonly options: NotifierOptions) {
    const { owner, channels, env, page, store, ownRuns, tell, clock = systemClock } = options;
    const channelOf = new Map(channels.map((channel) => [channel.name, channel]));
    this.notifier = new Notifier({
      ...{ store, ownRuns, clock, owner, isDead },
      channels: channels.map(({ name }) => name),
      // Most rules have no expression, and its thread is not for nothing.
      evaluate: (evaluation) => {
        this.sandbox ??= createSandbox();
        return this.sandbox.evaluate(evaluation);
      },
      deliver: (notice, signal) => {
        const message = composeMessage(notice, { page: page() === "" ? null : page() });
        return sendMessage(channelOf.get(notice.channel)!, message, { env, now: clock.now, signal });
      },
      ...(tell === undefined ? {} : { tell }),
    });
  }

  /** A run of this process: its workflow may name channels that nobody has defined here. */
  heed({ workflow, definition }: Pick<Run, "workflow" | "definition">): void {
    for (const name of (definition.notify ?? []).flatMap(({ to }) => to)) {
      if (this.missing.has(name) || this.options.channels.some((channel) => channel.name === name)) continue;
      this.missing.add(name);
      this.options.tell?.(
        `${workflow} notifies the channel ${name}, which the settings do not define: its messages wait for a process that has it`,
      );
    }
  }

  async close(): Promise<void> {
    await this.notifier.stop();
    await this.sandbox?.close();
  }
}
