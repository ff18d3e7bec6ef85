import type { z } from "zod";
import type { Answer, StreamItem } from "./operation.js";
import type { OperationName, TABLE } from "./operations.js";

export type InputOf<Name extends OperationName> = z.input<(typeof TABLE)[Name]["input"]>;
export type OutputOf<Name extends OperationName> = Answer<(typeof TABLE)[Name]["output"]>;

/** Executes operations, here or at a server. The caller need not know where. */
export interface Client {
  /** A refusal is thrown with its code. */
  call<Name extends OperationName>(name: Name, input: InputOf<Name>): Promise<OutputOf<Name>>;
  /** Streams an answer as it grows, until it is complete. */
  stream<Name extends OperationName>(
    name: Name,
    input: InputOf<Name>,
    signal: AbortSignal,
  ): AsyncIterable<StreamItem>;
  close(): Promise<void>;
}
