import type { Client } from "../../operations/client.js";
import type { Session } from "../terminal/channel.js";

/** One command as it was typed. */
export interface Given {
  /** The operation's fields, as far as they were given under their own names. */
  readonly input: { readonly [field: string]: unknown };
  readonly args: readonly unknown[];
  readonly flags: { readonly [flag: string]: unknown };
}

/** Does what was asked and tells how it went. The answer is the exit code. */
export type Present = (given: Given, session: Session, client: Client) => Promise<number>;
