import type { Failure } from "../model/failure.js";
import type { EarlierRound, LedRoute } from "../model/led-by.js";
import { charsOf, type LoggedText, type Truncated, truncateHeadTail } from "../text/head-tail.js";
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

/** Headers and fences counted. */
export const MAX_FAILURE_ROUTE_CONTEXT_CHARS = 6_000;
const MAX_STEP_ID_CHARS = 200;
const MAX_ARTIFACT_CHARS = 512;
const MAX_REASON_CHARS = 300;
const MAX_CODE_CHARS = 100;

/** Where a failure came from and where it goes. All texts are already redacted. */
export interface FailureContextInput {
  readonly runId: number;
  readonly route: LedRoute;
  readonly round: number;
  /** Null if only max_loops limits them. */
  readonly rounds: number | null;
  readonly earlier: readonly EarlierRound[];
  readonly targetStep: string;
  readonly sourceStep: string;
  readonly sourceJob: number;
  readonly sourceAttempt: number;
  readonly failureArtifact: string | null;
  readonly retrySummaryArtifact: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly maxRetries: number;
  /** Why there is no further retry: "2 of 2 retries used", "deterministic_contract is not retryable". */
  readonly retriesOver: string;
  readonly failure: Pick<Failure, "code" | "class" | "message" | "exit_code" | "signal">;
  /** The output as JSON; null if the failed attempt returned none. */
  readonly output: LoggedText | null;
  readonly stderr: LoggedText;
  readonly stdout: LoggedText;
  readonly retrySummary: LoggedText | null;
}

interface Section {
  readonly name: string;
  readonly text: LoggedText;
  /** The part of the room that this section has for itself when not all fits. The shares of all add up to 1. */
  readonly share: number;
}

/** The order in which parts get room that others leave. */
const SPARE_ROOM_ORDER = ["stderr", "message", "output", "stdout", "retry_summary"];

/** The envelope that a failure has with it wherever it leads: along an edge, by a goto or to a repair step. */
export function buildFailureContext(
  input: FailureContextInput,
  maxChars = MAX_FAILURE_ROUTE_CONTEXT_CHARS,
): Context {
  const envelope = envelopeOf(input);
  const metadata = metadataOf(input);
  const sections = sectionsOf(input);
  const render = (texts: readonly Truncated[]) => {
    const content =
      metadata + sections.map((section, index) => headingOf(section) + texts[index]!.text).join("");
    const fixed = metadata.length + sections.reduce((sum, section) => sum + headingOf(section).length, 0);
    const originalChars = texts.reduce((sum, text) => sum + text.originalChars, fixed);
    const includedChars = texts.reduce((sum, text) => sum + text.includedChars, fixed);
    return {
      text: renderEnvelope(envelope, { originalChars, includedChars }, content),
      fixed,
      originalChars,
    };
  };

  let texts = sections.map(({ text }) => truncateHeadTail(text, maxChars));
  let rendered = render(texts);
  if (rendered.text.length > maxChars) {
    const room = maxChars - cutEnvelopeChars(envelope, rendered.originalChars) - rendered.fixed;
    if (room < 0) throw new RangeError(`a failure context does not fit into ${maxChars} characters`);
    const rooms = divideRoom(room, sections);
    texts = sections.map(({ name, text }) => truncateHeadTail(text, rooms.get(name)!));
    rendered = render(texts);
  }
  const parts: ContextPart[] = sections.map(({ name }, index) => partOf(`failure.${name}`, texts[index]!));
  return {
    text: rendered.text,
    manifest: { policy_version: CONTEXT_POLICY_VERSION, total_chars: rendered.text.length, parts },
  };
}

function envelopeOf(input: FailureContextInput): Envelope {
  const artifact = (id: string | null) => (id === null ? null : headerValue(id, MAX_ARTIFACT_CHARS));
  return {
    title: "DARUMA_FAILURE_ROUTE_CONTEXT v1",
    fields: [
      ["policy_version", CONTEXT_POLICY_VERSION],
      ["untrusted_data", true],
      ["route", input.route],
      ["round", roundText(input)],
      ["workflow_run_id", input.runId],
      ["target_node_key", headerValue(input.targetStep, MAX_STEP_ID_CHARS)],
      ["source_node_key", headerValue(input.sourceStep, MAX_STEP_ID_CHARS)],
      ["source_run_node_id", input.sourceJob],
      ["source_attempt", input.sourceAttempt],
      ["failure_artifact_id", artifact(input.failureArtifact)],
      ["retry_summary_artifact_id", artifact(input.retrySummaryArtifact)],
      ["created_at", headerValue(input.createdAt, MAX_CODE_CHARS)],
    ],
  };
}

/** `2 of 4`; where nothing bounds the rounds `2`. */
export function roundText({ round, rounds }: Pick<FailureContextInput, "round" | "rounds">): string {
  return rounds === null ? String(round) : `${round} of ${rounds}`;
}

function metadataOf({ sourceAttempt, maxRetries, retriesOver, failure }: FailureContextInput): string {
  return [
    `attempt: ${sourceAttempt}`,
    `max_retries: ${maxRetries}`,
    `retry_exhaustion_reason: ${headerValue(retriesOver, MAX_REASON_CHARS)}`,
    `code: ${headerValue(failure.code, MAX_CODE_CHARS)}`,
    `class: ${failure.class}`,
    `exit_code: ${failure.exit_code}`,
    `signal: ${failure.signal === null ? null : headerValue(failure.signal, MAX_CODE_CHARS)}`,
  ].join("\n");
}

function sectionsOf({ failure, output, stderr, stdout, retrySummary }: FailureContextInput): Section[] {
  return [
    { name: "message", text: failure.message, share: 0.15 },
    ...(output === null ? [] : [{ name: "output", text: output, share: 0.2 }]),
    { name: "stderr", text: stderr, share: 0.3 },
    { name: "stdout", text: stdout, share: 0.15 },
    ...(retrySummary === null ? [] : [{ name: "retry_summary", text: retrySummary, share: 0.2 }]),
  ];
}

function headingOf({ name, text }: Section): string {
  const chars = charsOf(text);
  if (chars === 0) return `\n\n${name}: empty`;
  return `\n\n${name} (${name === "output" ? "JSON, " : ""}${chars} characters):\n`;
}

/** Each section has its share; what one does not need goes to the others in order. */
function divideRoom(room: number, sections: readonly Section[]): Map<string, number> {
  const rooms = new Map<string, number>();
  let spare = room;
  for (const { name, text, share } of sections) {
    const own = Math.min(charsOf(text), Math.floor(room * share));
    rooms.set(name, own);
    spare -= own;
  }
  for (const name of SPARE_ROOM_ORDER) {
    const section = sections.find((candidate) => candidate.name === name);
    if (section === undefined) continue;
    const more = Math.min(spare, charsOf(section.text) - rooms.get(name)!);
    rooms.set(name, rooms.get(name)! + more);
    spare -= more;
  }
  return rooms;
}
