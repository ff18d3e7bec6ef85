import type { NoticeKind } from "../model/definition.js";
import type { Json } from "../text/json.js";

/** A notice as people read it. */
export interface Message {
  /** The same id every time it is sent. */
  readonly id: string;
  readonly at: number;
  readonly kind: NoticeKind | "test";
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** Its place in the page of the server, where that is known. */
  readonly link: string | null;
  /** The message's data for programs. */
  readonly data: { readonly [field: string]: Json };
}
