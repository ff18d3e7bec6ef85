import type { Client } from "../../operations/client.js";
import type { Session } from "../terminal/channel.js";

/** A command as it was typed. */
export interface Given {
  /** The operation's fields that were given under their own names. */
  readonly input: { readonly [field: string]: unknown };
  readonly args: readonly unknown[];
  readonly flags: { readonly [flag: string]: unknown };
}

/** Executes a command and prints the result. Returns the exit code. */
export type Present = (given: Given, session: Session, client: Client) => Promise<number>;
