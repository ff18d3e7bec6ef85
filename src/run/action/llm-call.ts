import type { ModelMessage, TextStreamPart, ToolSet } from "ai";
import { DarumaError } from "../../core/errors/errors.js";
import type { TokenUsage } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Outcome } from "../../core/model/outcome.js";
import { isDeeperThan, type Json, MAX_JSON_LEVELS } from "../../core/text/json.js";
import { checkJson } from "../../core/text/json-schema-check.js";
import { boundedWait, readRetryAfter } from "../process/retry-after.js";
import { type Action, type Attempt, stoppedResult } from "./action.js";
import { errnoOf } from "./http-request.js";
import { loadModel, type ModelCall, readModelCall } from "./llm-model.js";

const MAX_CAUSES = 8;
/** How the libraries word a stream that stopped before it was over; it has no code of its own. */
const ENDED_EARLY = /stream ended without a finish/i;

/** What providers call their troubles once a stream has begun, by the status they would have answered before. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  invalid_request_error: 400,
  not_found_error: 404,
  request_too_large: 413,
  authentication_error: 401,
  permission_error: 403,
  insufficient_quota: 402,
};

/** The library's own refusals: the request was never sent, and never will be as it stands. */
const REFUSALS: ReadonlySet<string> = new Set([
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_LoadSettingError",
  "AI_NoSuchModelError",
  "AI_UnsupportedFunctionalityError",
  "AI_UnsupportedModelVersionError",
]);

/** The stream came to its end without a word that the answer had. */
function brokenOff(call: ModelCall): FailureFacts {
  return {
    code: "NETWORK_ERROR",
    message: `${nameOf(call)}: the stream ended before the answer was complete`,
  };
}

/** What is known of a model call that failed: the provider's status and headers first, its words last. */
export function llmFailure(error: unknown, call: ModelCall | null, startedAt: number): FailureFacts {
  if (error instanceof DarumaError) return { code: error.code, message: error.message };
  const who = call === null ? "the model call" : nameOf(call);
  const said = wordsOf(error);
  const { name, statusCode, responseHeaders } = error as {
    name?: unknown;
    statusCode?: unknown;
    responseHeaders?: { readonly [header: string]: string };
  };
  const isRefused = typeof statusCode === "number" && statusCode >= 400;
  const status = isRefused ? statusCode : statusSaid(error);
  if (status !== null) {
    const retryAfterMs = waitAsked(responseHeaders ?? {}, startedAt);
    return {
      message: `${status} from ${who}: ${said}`,
      httpStatus: status,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    };
  }
  if (typeof name === "string" && REFUSALS.has(name))
    return { code: "REQUEST_INVALID", message: `${who}: ${said}` };
  if (name === "AI_LoadAPIKeyError") return { code: "MISSING_SECRET", message: `${who}: ${said}` };
  if (call !== null && ENDED_EARLY.test(said)) return brokenOff(call);
  const errno = errnoIn(error);
  if (errno !== undefined) {
    const shown = said.includes(errno) ? said : `${errno}, ${said}`;
    return { message: `${who}: ${shown}`, errno: errno.startsWith("HPE_") ? "EPROTO" : errno };
  }
  return { code: "PROVIDER_ERROR", message: `${who}: ${said}` };
}

function nameOf({ provider, modelId }: ModelCall): string {
  return `${provider} ${modelId}`;
}

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === "string" && message !== "" ? message : JSON.stringify(error);
}

/** The status of an error within the stream: its own, or one that its type stands for. */
function statusSaid(error: unknown): number | null {
  if (error === null || typeof error !== "object" || error instanceof Error) return null;
  const said = error as { readonly [key: string]: unknown };
  const inner = said.error !== null && typeof said.error === "object" ? statusSaid(said.error) : null;
  if (inner !== null) return inner;
  for (const value of [said.status, said.code, said.type]) {
    const status = typeof value === "string" ? (STATUS_OF_TYPE[value] ?? Number(value)) : value;
    if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599)
      return status;
  }
  return null;
}

function waitAsked(headers: { readonly [header: string]: string }, startedAt: number): number | null {
  const inMs = Number(headers["retry-after-ms"] || Number.NaN);
  if (inMs >= 0) return boundedWait(Math.ceil(inMs));
  return readRetryAfter(new Headers(headers), startedAt);
}

/** Libraries wrap what the network said, sometimes twice. */
function errnoIn(error: unknown): string | undefined {
  let cause = error as { code?: unknown; cause?: unknown } | null | undefined;
  for (let depth = 0; depth < MAX_CAUSES && cause !== null && typeof cause === "object"; depth++) {
    if (typeof cause.code === "string") return errnoOf(cause.code);
    cause = cause.cause as typeof cause;
  }
  return undefined;
}

/** How much of an answer becomes the output. The log keeps all of it. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;
const MAX_NAMED_MISMATCHES = 5;
/** Some models put what they were asked for between such lines. */
const FENCED = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/;
const NO_BYTES = new Uint8Array(0);

/** The `llm_call` step: one prompt to one model, streamed. Text, or JSON that fits a schema, is the output. */
export function createLlmCallAction(): Action {
  return { type: "llm_call", run: runLlmCall };
}

async function runLlmCall(attempt: Attempt): Promise<Outcome<Json>> {
  let call: ModelCall | null = null;
  try {
    call = readModelCall(attempt.action, attempt.env);
    const answer = await stream(call, attempt);
    if (attempt.signal.aborted) return stoppedResult(attempt);
    reportUsage(attempt, answer.usage);
    const result = judge(answer, call);
    return answer.usage === null ? result : { ...result, usage: answer.usage };
  } catch (error) {
    if (attempt.signal.aborted) return stoppedResult(attempt);
    return { kind: "failed", facts: llmFailure(error, call, attempt.startedAt) };
  }
}

interface Answer {
  text: string;
  /** Why the model stopped; null while it has not said that it did. */
  finish: string | null;
  usage: TokenUsage | null;
}

async function stream(call: ModelCall, attempt: Attempt): Promise<Answer> {
  const [{ streamText, jsonSchema, Output }, { model, providerOptions }] = await Promise.all([
    import("ai"),
    loadModel(call),
  ]);
  // Otherwise the library prints to our own stdout, which may be a JSON document.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const { prompt } = attempt;
  const messages: ModelMessage[] = [{ role: "user", content: prompt?.text ?? String(attempt.action.prompt) }];
  const { fullStream } = streamText({
    model,
    messages,
    ...(prompt?.system ? { system: prompt.system } : {}),
    ...(call.temperature === null ? {} : { temperature: call.temperature }),
    ...(call.maxOutputTokens === null ? {} : { maxOutputTokens: call.maxOutputTokens }),
    ...(call.schema === null ? {} : { output: Output.object({ schema: jsonSchema(call.schema as object) }) }),
    providerOptions,
    abortSignal: attempt.signal,
    // Retries are the ladder's affair: bounded, recorded and visible.
    maxRetries: 0,
    // Errors are in the stream as well; without this they would be printed.
    onError: () => {},
  });
  const answer: Answer = { text: "", finish: null, usage: null };
  for await (const part of fullStream) takePart(part, answer, call, attempt);
  return answer;
}

function takePart(part: TextStreamPart<ToolSet>, answer: Answer, call: ModelCall, attempt: Attempt): void {
  switch (part.type) {
    case "text-delta":
      if (answer.text.length < MAX_ANSWER_CHARS) answer.text += part.text;
      return attempt.writeStdout(Buffer.from(part.text));
    // A model that thinks is alive, though it has said nothing yet.
    case "reasoning-delta":
    case "tool-input-delta":
      return attempt.writeStdout(NO_BYTES);
    case "start-step":
      for (const warning of part.warnings)
        attempt.writeStderr(Buffer.from(`${JSON.stringify({ warning })}\n`));
      return;
    case "finish":
      answer.finish =
        part.finishReason === "other" && part.rawFinishReason === undefined ? null : part.finishReason;
      answer.usage = usageOf(part.totalUsage, call);
      return;
    case "error":
      throw part.error;
    default:
      return;
  }
}

type FinishPart = Extract<TextStreamPart<ToolSet>, { type: "finish" }>;

function usageOf(usage: FinishPart["totalUsage"], { provider, modelId }: ModelCall): TokenUsage {
  return {
    provider,
    model: modelId,
    input_tokens: usage.inputTokens ?? null,
    output_tokens: usage.outputTokens ?? null,
    total_tokens: usage.totalTokens ?? null,
    reasoning_tokens: usage.outputTokenDetails.reasoningTokens ?? null,
    cached_input_tokens: usage.inputTokenDetails.cacheReadTokens ?? null,
  };
}

function reportUsage(attempt: Attempt, usage: TokenUsage | null): void {
  if (usage !== null) attempt.writeStderr(Buffer.from(`${JSON.stringify({ usage })}\n`));
}

function judge({ text, finish }: Answer, call: ModelCall): Outcome<Json> {
  if (finish === null) return { kind: "failed", facts: brokenOff(call) };
  if (finish === "content-filter") {
    const message = `${call.modelId} refused to answer: the provider's content filter`;
    return { kind: "failed", facts: { code: "CONTENT_FILTERED", message } };
  }
  if (call.schema === null) return { kind: "succeeded", output: text };
  const value = parseAnswer(text);
  if (value === undefined) {
    const why = finish === "length" ? "it was cut at max_output_tokens" : "it is not JSON";
    return invalid(`the answer does not fit its schema: ${why}`);
  }
  if (isDeeperThan(value, MAX_JSON_LEVELS))
    return invalid(`the answer is nested more than ${MAX_JSON_LEVELS} levels deep`);
  const mismatches = checkJson(call.schema, value);
  if (mismatches.length === 0) return { kind: "succeeded", output: value };
  const named = mismatches.slice(0, MAX_NAMED_MISMATCHES).map(({ path, message }) => `${path}: ${message}`);
  return invalid(`the answer does not fit its schema: ${named.join("; ")}`);
}

function invalid(message: string): Outcome<Json> {
  return { kind: "failed", facts: { code: "OUTPUT_INVALID", message } };
}

function parseAnswer(text: string): Json | undefined {
  for (const candidate of [text, FENCED.exec(text)?.[1]]) {
    if (candidate === undefined) continue;
    try {
      return JSON.parse(candidate) as Json;
    } catch {
      // Perhaps it is fenced.
    }
  }
  return undefined;
}
