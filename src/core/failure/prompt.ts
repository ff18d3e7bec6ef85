import type { EarlierFiles } from "../model/files-policy.js";
import { type Truncated, truncateHeadTail } from "../text/head-tail.js";
import {
  assembleContext,
  type ContextBudgets,
  DEFAULT_CONTEXT_BUDGETS,
  type UpstreamText,
} from "./context-assembly.js";
import {
  CONTEXT_POLICY_VERSION,
  type Context,
  type ContextPart,
  headerValue,
  partOf,
} from "./context-envelope.js";
import { buildFailureContext, type FailureContextInput, roundText } from "./failure-context.js";
import { type HintTold, hintBlock } from "./hint-block.js";
import { buildRetryContext, CONSTRAINT_LINES, type RetryContextInput } from "./retry-context.js";
import { whyAsked } from "./why-asked.js";

/** An objective is a sentence or a page; what an output brings beyond that would crowd out the instructions. */
const MAX_OBJECTIVE_CHARS = 4_000;
const MAX_STEP_ID_CHARS = 200;
/**
 * Limit as a share of the whole. With a failure, a retry and a hint at their longest, a sixth is left for the
 * instructions.
 */
const MAX_SYSTEM_SHARE = 0.25;
/** Between the author's words and what is appended to them. */
const SEPARATOR = "\n";

/** Everything for the prompt of a model or an agent in one attempt. All texts are already redacted. */
export interface PromptInput {
  readonly objective: string;
  readonly step: string;
  /** The step's own prompt, rendered. */
  readonly instructions: string;
  /** The system prompt, for a model that takes one. It counts against the same budget. */
  readonly system: string | null;
  /** A first attempt begins with the instructions themselves, without objective and headings. */
  readonly bare: boolean;
  /** The failure that led here. */
  readonly failure: FailureContextInput | null;
  readonly hint: HintTold | null;
  readonly earlierFiles: readonly EarlierFiles[];
  readonly upstream: readonly UpstreamText[];
  /** What is known of the attempt before this one in the same visit. */
  readonly retry: RetryPart | null;
}

export type RetryPart = Omit<RetryContextInput, "objective" | "step" | "title" | "instructions">;

export interface Prompt extends Context {
  readonly system: string | null;
}

/**
 * Assembles a prompt: the author's words first, then why the step is asked and a person's hint, then the failure that
 * led here, then upstream outputs as far as they fit. The failure's room is reserved before everything else. On a retry
 * the minimal retry context replaces the author's words; nothing of the earlier transcript is kept.
 */
export function assemblePrompt(
  input: PromptInput,
  budgets: ContextBudgets = DEFAULT_CONTEXT_BUDGETS,
): Prompt {
  const { failure, upstream } = input;
  const system =
    input.system === null
      ? null
      : truncateHeadTail(input.system, Math.floor(budgets.totalChars * MAX_SYSTEM_SHARE));
  const totalChars = budgets.totalChars - (system?.text.length ?? 0);
  const failureChars = Math.min(budgets.failureChars, totalChars);
  const reserved = failure === null ? 0 : buildFailureContext(failure, failureChars).text.length;
  const words = fitWords(input, totalChars - reserved - SEPARATOR.length);
  const rest = assembleContext(
    { failure, upstream },
    { totalChars: totalChars - words.text.length - SEPARATOR.length, failureChars },
  );
  const text = rest.text === "" ? words.text : words.text + SEPARATOR + rest.text;
  const parts: ContextPart[] = [
    ...(system === null ? [] : [partOf("system", system)]),
    ...words.parts,
    ...rest.manifest.parts,
  ];
  const total_chars = text.length + (system?.text.length ?? 0);
  return {
    text,
    system: system?.text ?? null,
    manifest: { policy_version: CONTEXT_POLICY_VERSION, total_chars, parts },
  };
}

interface Words {
  readonly text: string;
  readonly parts: readonly ContextPart[];
}

function fitWords(input: PromptInput, room: number): Words {
  const frame = renderWords(input, "", "").text.length;
  const showsObjective = input.retry !== null || !input.bare;
  const objective = truncateHeadTail(
    showsObjective ? input.objective : "",
    Math.max(0, Math.min(MAX_OBJECTIVE_CHARS, room - frame)),
  );
  const instructions = truncateHeadTail(
    input.instructions,
    Math.max(0, room - frame - objective.text.length),
  );
  const { text, parts } = renderWords(input, objective.text, instructions.text);
  const own: readonly (readonly [string, Truncated])[] = [
    ...(showsObjective ? ([["objective", objective]] as const) : []),
    ["instructions", instructions],
  ];
  return { text, parts: [...own.map(([name, cut]) => partOf(name, cut)), ...parts] };
}

function renderWords(input: PromptInput, objective: string, instructions: string): Words {
  const { step, bare, retry, failure, hint, earlierFiles } = input;
  const [why, ...earlier] = whyAsked(failure, earlierFiles);
  const led = [
    ...(why === undefined ? [] : [why]),
    ...(failure === null || retry !== null ? [] : [`constraints:\n${CONSTRAINT_LINES}`]),
    ...earlier,
    ...(hint === null ? [] : [hintBlock(hint)]),
  ];
  if (retry !== null) {
    const { text, manifest } = buildRetryContext({ ...retry, objective, step, title: null, instructions });
    return { text: [text, ...led.map(asParagraph)].join("\n"), parts: manifest.parts };
  }
  if (bare && led.length === 0) return { text: instructions, parts: [] };
  const named = `step: ${headerValue(step, MAX_STEP_ID_CHARS)}`;
  const head = bare
    ? [instructions]
    : [
        `objective:\n${objective}`,
        failure === null ? named : `${named}\nround: ${roundText(failure)}`,
        `instructions:\n${instructions}`,
      ];
  return { text: [...head, ...led].map(asParagraph).join("\n"), parts: [] };
}

function asParagraph(text: string): string {
  return `${text}\n`;
}
