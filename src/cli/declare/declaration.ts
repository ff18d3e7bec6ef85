import type { Command } from "commander";
import type { Client } from "../../operations/client.js";
import type { Session } from "../terminal/channel.js";

/** What a command needs to be declared and to return its exit code. */
export interface Declaration {
  readonly program: Command;
  /** Runs the command's own module, which is loaded only now, so that a start does not pay for the other commands. */
  readonly act: (work: (session: Session) => Promise<number>) => Promise<void>;
}

/** A command as it was typed. */
export interface Given {
  /** The operation's fields that were given under their own names. */
  readonly input: { readonly [field: string]: unknown };
  readonly args: readonly unknown[];
  readonly flags: { readonly [flag: string]: unknown };
}

/** Executes a command and prints the result. Returns the exit code. */
export type Present = (given: Given, session: Session, client: Client) => Promise<number>;
