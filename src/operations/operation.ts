import type { z } from "zod";
import type { Acted } from "../tell/lookup/own-runs.js";
import type { Context } from "./context.js";
import type { Role } from "./roles.js";

/**
 * One use case, once. The command line, the REST server and the MCP server are made from these; none of them has logic
 * of its own, so they cannot disagree.
 */
export interface Operation<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
  /** `verb_noun`: the MCP tool, and the operationId of the REST route. */
  readonly name: string;
  /** One line, as `--help` and the OpenAPI document show it. */
  readonly summary: string;
  /** What somebody who has never seen Daruma must know to use it well; MCP clients read this. */
  readonly description: string;
  /** What only documents add to it: agents pay for every word of a description. */
  readonly details?: string;
  /** The least that may do it. */
  readonly role: Role;
  readonly effect: "reads" | "changes" | "destroys";
  readonly input: Input;
  readonly output: Output;
  readonly rest: RestForm;
  /** Often one; `control_run` is pause, resume, cancel and more. */
  readonly cli: readonly CliForm[];
  readonly handler: (context: Context, input: z.output<Input>) => Promise<Answer<Output>>;
  /** The runs and jobs that it acts on: their run must be one of this store, not one that was imported. */
  readonly actsOn?: (input: z.output<Input>) => readonly Acted[];
  /** What it answers under a key is kept, and answered again: no log of a run knows the key. */
  readonly idempotent?: true;
  /** A run comes into being: how many one token makes in a minute is limited. */
  readonly makesRun?: true;
  /** Streams the answer as it grows: server-sent events over REST, `--follow` on the command line. */
  readonly stream?: (
    context: Context,
    input: z.output<Input>,
    signal: AbortSignal,
  ) => AsyncIterable<StreamItem>;
  /** The field of the input that takes the id of the last item that a client has seen, to go on after it. */
  readonly streamFrom?: string;
  /** What an agent is given that does not ask otherwise, over what it asks for: it pays for every character it reads. */
  readonly agentDefaults?: (given: { readonly [field: string]: unknown }) => {
    readonly [field: string]: unknown;
  };
  /** Torc's agents know the tool by this name, too: there its answers have Torc's words. */
  readonly publishedTool?: string;
  /** Not among the tools of MCP: agents seldom need it, and every tool is part of every conversation. */
  readonly audience?: "people";
  /**
   * What the command line does with its store before it calls. `optional`: without one it answers as an empty one would; `create`:
   * it makes one; `inspect`: it looks at the file first; `none`: it leaves it alone. Missing: there must be one.
   */
  readonly store?: "optional" | "create" | "inspect" | "none";
}

/** An answer of this schema. It is only read: its lists and fields may be those of the engine or of a store. */
export type Answer<Schema extends z.ZodType> = Readable<z.input<Schema>>;
type Readable<T> = T extends object ? { readonly [K in keyof T]: Readable<T[K]> } : T;

/** Fields of the input that the path names come from it; the others from the query (GET, DELETE) or the JSON body. */
export interface RestForm {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below /api/v1: `/runs/{run_id}`. */
  readonly path: string;
  /** The last field of the path may hold slashes as they are. */
  readonly lastTakesSlashes?: true;
  /** Also without the prefix, as Torc's clients know it: there its answers have Torc's words. */
  readonly unprefixed?: true;
  /** Fields of a POST or PUT that come from the query all the same. */
  readonly query?: readonly string[];
  /** Other names that clients have for fields of the body: `{ stepId: "step_id" }`. */
  readonly alsoCalled?: { readonly [name: string]: string };
  readonly status?: 200 | 201 | 202 | 204;
  /** The items of its stream are pieces of one text, `{text, encoding}`, which `?follow=true` answers as it is. */
  readonly streamsText?: true;
}

export interface CliForm {
  /** `pause`, or `token create`. */
  readonly words: string;
  /** Instead of the operation's summary. */
  readonly summary?: string;
  /** Fields of the input that stand on the line without a flag, in order; `[x]` may be left out, `x...` takes many. */
  readonly positional: readonly string[];
  /** Fields that these words settle. */
  readonly preset?: { readonly [field: string]: unknown };
  readonly examples: readonly string[];
}

/** One server-sent event. */
export interface StreamItem {
  /** Lets a client go on after it. Null: it goes on after the last one that had an id, and hears this again. */
  readonly id: string | null;
  readonly event: string;
  readonly data: unknown;
}

/** Keeps the types of input and output together where an operation is written down. */
export function operation<Input extends z.ZodObject, Output extends z.ZodType>(
  described: Operation<Input, Output>,
): Operation<Input, Output> {
  return described;
}
