import { charsOf, type LoggedText, truncateHeadTail } from "../text/head-tail.js";
import {
  CONTEXT_POLICY_VERSION,
  type Context,
  type ContextPart,
  cutEnvelopeChars,
  type Envelope,
  headerValue,
  partOf,
  renderEnvelope,
} from "./context-envelope.js";
import {
  buildFailureContext,
  type FailureContextInput,
  MAX_FAILURE_ROUTE_CONTEXT_CHARS,
} from "./failure-context.js";

export const MAX_CONTEXT_CHARS_TOTAL = 32_000;
/** Less than this of an output is not worth its headers. */
const MIN_UPSTREAM_CHARS = 200;
const MAX_STEP_ID_CHARS = 200;

export interface ContextBudgets {
  readonly totalChars: number;
  readonly failureChars: number;
}

export const DEFAULT_CONTEXT_BUDGETS: ContextBudgets = {
  totalChars: MAX_CONTEXT_CHARS_TOTAL,
  failureChars: MAX_FAILURE_ROUTE_CONTEXT_CHARS,
};

/** What a step that this one depends on has produced, redacted. */
export interface UpstreamText {
  readonly step: string;
  readonly text: LoggedText;
}

/**
 * Assembles the context for a step: the failure that led to it first, then upstream outputs in order as far as they
 * fit.
 */
export function assembleContext(
  {
    failure,
    upstream,
  }: { readonly failure: FailureContextInput | null; readonly upstream: readonly UpstreamText[] },
  budgets: ContextBudgets = DEFAULT_CONTEXT_BUDGETS,
): Context {
  const first =
    failure === null
      ? null
      : buildFailureContext(failure, Math.min(budgets.failureChars, budgets.totalChars));
  let text = first?.text ?? "";
  const parts: ContextPart[] = [...(first?.manifest.parts ?? [])];
  for (const output of upstream) {
    const separator = text === "" ? "" : "\n";
    const { block, part } = renderUpstream(output, budgets.totalChars - text.length - separator.length);
    if (block !== "") text += separator + block;
    parts.push(part);
  }
  return { text, manifest: { policy_version: CONTEXT_POLICY_VERSION, total_chars: text.length, parts } };
}

function renderUpstream({ step, text }: UpstreamText, room: number): { block: string; part: ContextPart } {
  const envelope: Envelope = {
    title: "DARUMA_UPSTREAM_CONTEXT v1",
    fields: [
      ["policy_version", CONTEXT_POLICY_VERSION],
      ["untrusted_data", true],
      ["source_node_key", headerValue(step, MAX_STEP_ID_CHARS)],
    ],
  };
  const name = `upstream.${step}`;
  const whole = truncateHeadTail(text, room);
  const block = renderEnvelope(envelope, whole, whole.text);
  if (block.length <= room) return { block, part: partOf(name, whole) };
  const contentRoom = room - cutEnvelopeChars(envelope, charsOf(text));
  if (contentRoom < MIN_UPSTREAM_CHARS) {
    return {
      block: "",
      part: { ...partOf(name, { originalChars: charsOf(text), includedChars: 0 }), status: "dropped" },
    };
  }
  const cut = truncateHeadTail(text, contentRoom);
  return { block: renderEnvelope(envelope, cut, cut.text), part: partOf(name, cut) };
}
