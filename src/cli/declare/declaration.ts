import type { Command } from "commander";
import type { Session } from "../terminal/channel.js";

/** What a command needs to say how it went, and how it is declared. */
export interface Declaration {
  readonly program: Command;
  /** Runs the command's own module, loaded only now: a start must not pay for the other commands. */
  readonly act: (work: (session: Session) => Promise<number>) => Promise<void>;
}
