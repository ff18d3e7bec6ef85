import type { EarlierFiles } from "../model/files-policy.js";
import type { EarlierRound } from "../model/led-by.js";
import { headerValue } from "./context-envelope.js";
import type { FailureContextInput } from "./failure-context.js";
import { shortSignature } from "./short-signature.js";

const MAX_NAME_CHARS = 60;
const MAX_FILES_NAMED = 5;
const SHORT_HASH_CHARS = 8;

/** Why a step is asked to work, in plain words; empty where nothing has failed before. */
export function whyAsked(
  failure: Pick<FailureContextInput, "route" | "round" | "sourceStep" | "earlier"> | null,
  files: EarlierFiles | null,
): readonly string[] {
  const again = failure !== null && isAskedAgain(failure);
  const why = [
    ...(failure === null ? [] : [reasonOf(failure, again)]),
    ...(files === null ? [] : [filesSentence(files), ...asideSentence(files)]),
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

function filesSentence({ state, files, attempts, patch }: EarlierFiles): string {
  const where = patch === null ? "" : "; they are in $DARUMA_PREVIOUS_PATCH";
  switch (state) {
    case "kept":
      if (files.length === 0) return "You had changed no files in the working folder.";
      return `Your earlier changes are in the working folder${counted(files)}. Continue from them; do not begin anew.`;
    case "taken_back":
      return `Your earlier changes were taken back${where}${counted(files)}. The text below is about them.`;
    case "fresh":
      return `This is a fresh working folder. The changes of ${attemptsText(attempts)}${named(files)} are not in it${where}.`;
  }
}

function asideSentence({ aside }: EarlierFiles): readonly string[] {
  if (aside === null) return [];
  const step = headerValue(aside.step, MAX_NAME_CHARS);
  return [
    `What attempt ${aside.attempt} of \`${step}\` left is not there; it is in the artifact ${aside.patch}.`,
  ];
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
