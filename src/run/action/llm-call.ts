import type { ModelMessage, TextStreamPart, ToolSet } from "ai";
import type { TokenUsage } from "../../core/model/events.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import { checkJson } from "../../core/text/json-schema-check.js";
import { isDeeperThan, MAX_JSON_LEVELS } from "../../core/text/to-json.js";
import type { Action, Attempt } from "./action.js";
import { brokenOff, llmFailure } from "./llm-failure.js";
import { loadModel, type ModelCall, readModelCall } from "./llm-model.js";
import { stoppedResult } from "./stopped-result.js";

/** How much of an answer becomes the output. The log keeps all of it. */
export const MAX_ANSWER_CHARS = 4 * 1024 * 1024;
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
