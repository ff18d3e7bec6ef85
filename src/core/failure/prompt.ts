import { type EarlierFiles, previousPatch } from "../model/files-policy.js";
import type { EarlierRound } from "../model/led-by.js";
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
import { shortSignature } from "./signature.js";

const MAX_NAME_CHARS = 60;
const MAX_FILES_NAMED = 5;
/** Patches that went before the last ones are among the artifacts. */
const MAX_FILES_TOLD = 6;
const SHORT_HASH_CHARS = 8;

/** Why a step is asked to work, as a sentence. Empty if nothing has failed before. */
export function whyAsked(
  failure: Pick<FailureContextInput, "route" | "round" | "sourceStep" | "earlier"> | null,
  files: readonly EarlierFiles[],
): readonly string[] {
  const again = failure !== null && isAskedAgain(failure);
  const why = [
    ...(failure === null ? [] : [reasonOf(failure, again)]),
    ...filesSentences(files, failure !== null),
  ];
  if (why.length === 0) return [];
  const heading = again || failure === null ? "why you are asked again" : "why you are asked";
  const earlier = failure?.earlier ?? [];
  return [
    `${heading}:\n${why.join("\n")}`,
    ...(earlier.length === 0 || failure === null
      ? []
      : [
          [earlierHeading(earlier), ...earlier.map((round) => roundLine(failure.sourceStep, round))].join(
            "\n",
          ),
        ]),
  ];
}

/** A repair step is asked again by the second failure that leads to it: the first round is the try of the other step. */
function isAskedAgain({
  route,
  round,
  earlier,
}: Pick<FailureContextInput, "route" | "round" | "earlier">): boolean {
  return route === "goto" || (route === "edge" && round > 1) || (route === "remediate" && earlier.length > 1);
}

function reasonOf(
  { route, sourceStep }: Pick<FailureContextInput, "route" | "sourceStep">,
  again: boolean,
): string {
  const step = `\`${headerValue(sourceStep, MAX_NAME_CHARS)}\``;
  if (again && route === "remediate")
    return `You have done this step before. Then the step ${step} ran again and failed. Repair what it names; then it runs again. The files are as it left them; do not begin anew.`;
  if (again)
    return `You have done this step before. Then the step ${step} examined the result and failed. Repair what it names.`;
  if (route === "remediate")
    return `The step ${step} failed. You are asked to repair what it names; then it runs again. The files are as it left them.`;
  return `The step ${step} failed, and that is why this step runs.`;
}

function filesSentences(earlier: readonly EarlierFiles[], hasFailure: boolean): string[] {
  const previous = previousPatch(earlier);
  const where = ({ patch }: EarlierFiles): string =>
    patch === null
      ? ""
      : `; they are in ${patch === previous ? "$DARUMA_PREVIOUS_PATCH" : `the artifact ${patch}`}`;
  const told = earlier.filter((each, at) => each.state !== "unfinished" || !earlier.slice(at).some(isGone));
  return told.slice(-MAX_FILES_TOLD).map((each, at, all) => {
    const { state, step, files, attempts, patch } = each;
    switch (state) {
      case "kept":
        if (files.length === 0) return "You had changed no files in the working folder.";
        return `Your earlier changes are in the working folder${counted(files)}. Continue from them; do not begin anew.`;
      case "taken_back": {
        const about = hasFailure ? " The text below is about them." : "";
        return `Your earlier changes were taken back${where(each)}${counted(files)}.${about}`;
      }
      case "unfinished":
        return `${capitalised(attemptsText(attempts))} ended in the middle of the work, through no fault of yours. What you did is in the working folder; continue from it.`;
      case "set_aside":
        return `What ${attemptsText(attempts)} of \`${headerValue(step ?? "", MAX_NAME_CHARS)}\` left is not there${patch === null ? "" : `; it is in the artifact ${patch}`}.`;
      default: {
        const before = all.slice(0, at).findLast(isGone)?.state;
        const isSaid = state !== "lost" && (state === before || (state === "set_back" && before === "fresh"));
        const lead = isSaid ? "" : `${goneText(each)} `;
        return `${lead}The changes of ${attemptsText(attempts)}${named(files)} are not in it${where(each)}.`;
      }
    }
  });
}

function isGone({ state }: EarlierFiles): boolean {
  return state === "fresh" || state === "lost" || state === "set_back";
}

function goneText({ state, attempts }: EarlierFiles): string {
  if (state === "fresh") return "This is a fresh working folder.";
  const back = "working folder went back to its last checkpoint";
  if (state === "set_back") return `The ${back}.`;
  return `Attempt ${attempts.at(-1)} ended in the middle of its work, through no fault of yours, and the ${back}.`;
}

function counted(files: readonly string[]): string {
  return files.length === 0
    ? ""
    : ` (${files.length} file${files.length === 1 ? "" : "s"}: ${namesOf(files)})`;
}

function named(files: readonly string[]): string {
  return files.length === 0 ? "" : ` (${namesOf(files)})`;
}

function namesOf(files: readonly string[]): string {
  const shown = files.slice(0, MAX_FILES_NAMED).map((file) => headerValue(file, MAX_NAME_CHARS));
  const more = files.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${more} more`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function attemptsText(attempts: readonly number[]): string {
  if (attempts.length === 0) return "earlier attempts";
  if (attempts.length === 1) return `attempt ${attempts[0]}`;
  return `attempts ${attempts.slice(0, -1).join(", ")} and ${attempts.at(-1)}`;
}

/** Their numbers are those of the rounds; what stands before the first is in the log. */
function earlierHeading([first]: readonly EarlierRound[]): string {
  const hidden = (first?.number ?? 1) - 1;
  return hidden === 0 ? "earlier rounds:" : `earlier rounds (the first ${hidden} not shown):`;
}

function roundLine(step: string, { number, code, signature, change }: EarlierRound): string {
  const after =
    change === null
      ? ""
      : `, after change ${change.diffHash.slice(0, SHORT_HASH_CHARS)}${named(change.files)}`;
  return `${number}. ${headerValue(step, MAX_NAME_CHARS)} failed: ${headerValue(code, MAX_NAME_CHARS)}, signature ${shortSignature(signature)}${after}`;
}

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

interface Prompt extends Context {
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
