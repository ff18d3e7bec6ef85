import type { Command } from "commander";
import type { Session } from "../terminal/channel.js";

/** What a command needs to be declared and to return its exit code. */
export interface Declaration {
  readonly program: Command;
  /** Runs the command's own module, which is loaded only now, so that a start does not pay for the other commands. */
  readonly act: (work: (session: Session) => Promise<number>) => Promise<void>;
}
