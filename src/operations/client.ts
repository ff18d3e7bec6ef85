import type { z } from "zod";
import type { Answer, StreamItem } from "./operation.js";
import type { OperationName, TABLE } from "./operations.js";

export type InputOf<Name extends OperationName> = z.input<(typeof TABLE)[Name]["input"]>;
export type OutputOf<Name extends OperationName> = Answer<(typeof TABLE)[Name]["output"]>;

/** Does operations, here or at a server; whoever asks need not know where. */
export interface Client {
  /** A refusal is thrown with its code. */
  call<Name extends OperationName>(name: Name, input: InputOf<Name>): Promise<OutputOf<Name>>;
  /** The same as it grows, until there will be no more. */
  stream<Name extends OperationName>(
    name: Name,
    input: InputOf<Name>,
    signal: AbortSignal,
  ): AsyncIterable<StreamItem>;
  close(): Promise<void>;
}
