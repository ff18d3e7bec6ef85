import {
  DEFAULT_RECOVERY_TIMEOUT_MS,
  DEFAULT_RULE_ATTEMPTS,
  type FailureRule,
  type Scale,
} from "../../core/model/definition.js";
import { RESOURCES, type Resource } from "../../core/model/resources.js";
import { namedListOf } from "../read/named-list.js";
import { childPath, type Path } from "../read/path.js";
import {
  type Located,
  listOf,
  located,
  mapped,
  named,
  object,
  type ReadContext,
  type Schema,
  union,
  type Written,
} from "../read/schema.js";
import { boolean, duration, number, text } from "../read/schema-scalars.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { memory, runtime } from "./resource-fields.js";
import { MAX_COUNT } from "./retry-fields.js";

const factor = number({ min: 1.01, max: 100, whole: false });

const scaleMap = object({
  memory: {
    schema: factor,
    doc: "After OOM the memory of the job is multiplied by this and rounded up to a MiB.",
  },
  max_memory: { schema: memory, doc: "Memory is never raised beyond this." },
  runtime: {
    schema: factor,
    doc: "After WALLTIME the runtime of the job is multiplied by this and rounded up to a minute.",
  },
  max_runtime: { schema: runtime, doc: "The runtime is never raised beyond this." },
});

/** A limit alone raises nothing, and is more likely half of what was meant. */
const scale: Schema<Scale, Written<typeof scaleMap>> = {
  ...scaleMap,
  read(node, path, context) {
    const given = scaleMap.read(node, path, context);
    if (given === undefined || node.kind !== "map") return undefined;
    for (const resource of RESOURCES) checkLimit(node, resource, path, context);
    if (node.entries.length === 0) {
      const message = "`scale` raises nothing";
      const hint = "Add `memory: 1.5`, `runtime: 1.4`, or both.";
      context.findings.error({ code: "MISSING_KEY", message, hint, at: node.at, path });
    }
    return {
      ...(given.memory === undefined
        ? {}
        : { memory: { factor: given.memory, max: given.max_memory ?? null } }),
      ...(given.runtime === undefined
        ? {}
        : { runtime: { factor: given.runtime, max: given.max_runtime ?? null } }),
    };
  },
  json: (definitions) => ({
    ...scaleMap.json(definitions),
    anyOf: [{ required: ["memory"] }, { required: ["runtime"] }],
    dependentRequired: { max_memory: ["memory"], max_runtime: ["runtime"] },
  }),
};

function checkLimit(node: SourceMap, resource: Resource, path: Path | null, context: ReadContext): void {
  const limit = findEntry(node, `max_${resource}`);
  if (limit === undefined || findEntry(node, resource) !== undefined) return;
  const message = `\`max_${resource}\` limits nothing: \`${resource}\` is not raised`;
  const hint = `Add \`${resource}: ${resource === "memory" ? 1.5 : 1.4}\`, or remove the limit.`;
  context.findings.error({
    code: "MISSING_KEY",
    message,
    hint,
    at: limit.keyAt,
    path: childPath(path, limit.key),
  });
}

const MAX_NAME_CHARS = 200;
const MAX_EXIT_CODE = 255;

/** A handler with the place of its name, so that a repeated name can be reported. */
export interface HandlerDraft {
  readonly name: Located<string> | undefined;
  readonly rules: readonly FailureRule[];
}

/** A rule with the places of its codes, so that two rules with one code can be reported. */
export interface RuleDraft {
  readonly codes: readonly Located<number>[];
  readonly matchAll: Located<boolean> | undefined;
  readonly rule: FailureRule;
}

const exitCode = located(number({ min: 0, max: MAX_EXIT_CODE, whole: true }));

const ruleMap = object({
  exit_codes: {
    schema: union(
      mapped(exitCode, (code): readonly Located<number>[] => [code]),
      listOf(exitCode, { items: "exit codes" }),
    ),
    doc: "The exit codes that this rule handles; a signal counts as 128 plus its number, a timeout as 124.",
  },
  match_all_exit_codes: {
    schema: located(boolean()),
    doc: "Handles every failure that no other rule of the handler names.",
    default: false,
  },
  recovery_script: {
    schema: text({ expected: "a shell command" }),
    doc: "A shell command to run before the job runs again. If it fails, the job runs again anyway.",
  },
  recovery_timeout_ms: {
    schema: duration({ min: 1 }),
    doc: "A recovery script that takes longer is ended.",
    default: DEFAULT_RECOVERY_TIMEOUT_MS,
  },
  max_attempts: {
    schema: number({ min: 1, max: MAX_COUNT, whole: true }),
    doc: "Attempts in all, the first included.",
    aliases: ["max_retries"],
    default: DEFAULT_RULE_ATTEMPTS,
  },
  scale: {
    schema: scale,
    doc: "How much more memory or time the job gets after an attempt that used more than it asked for.",
  },
});

/** `max_retries` is what other formats call it. */
type WrittenRule = Written<typeof ruleMap> & { readonly max_retries?: number };

const rule: Schema<RuleDraft, WrittenRule> = {
  expected: ruleMap.expected,
  fits: ruleMap.fits,
  read(node, path, context) {
    const given = ruleMap.read(node, path, context);
    if (given === undefined) return undefined;
    const codes = given.exit_codes ?? [];
    const matchAll = given.match_all_exit_codes;
    const written = node.kind === "map" ? findEntry(node, "exit_codes")?.value : undefined;
    // Codes that are there but wrong were reported already.
    const namesNone = written === undefined || (written.kind === "list" && written.items.length === 0);
    if (namesNone && matchAll?.value !== true) {
      const message = "the rule handles no failure";
      const hint = "Add `exit_codes: [...]`, or `match_all_exit_codes: true`.";
      context.findings.error({ code: "MISSING_KEY", message, hint, at: node.at, path });
    }
    return {
      codes,
      matchAll,
      rule: {
        exitCodes: [...new Set(codes.map((code) => code.value))],
        matchAll: matchAll?.value ?? false,
        recoveryScript: given.recovery_script ?? null,
        recoveryTimeoutMs: given.recovery_timeout_ms ?? DEFAULT_RECOVERY_TIMEOUT_MS,
        maxAttempts: given.max_attempts ?? DEFAULT_RULE_ATTEMPTS,
        ...(given.scale === undefined ? {} : { scale: given.scale }),
      },
    };
  },
  json: (definitions) => ({
    ...ruleMap.json(definitions),
    anyOf: [{ required: ["exit_codes"] }, { required: ["match_all_exit_codes"] }],
    not: { required: ["max_attempts", "max_retries"] },
  }),
};

const handlerMap = object({
  name: {
    schema: located(text({ asWritten: true, maxChars: MAX_NAME_CHARS })),
    doc: "The name by which steps refer to it.",
    required: true,
  },
  rules: {
    schema: listOf(rule, { items: "rules", notEmpty: true }),
    doc: "Which rule handles which exit codes; a rule that names the code comes before the catch-all.",
    required: true,
  },
});

const handler: Schema<HandlerDraft, Written<typeof handlerMap>> = named("failure_handler", {
  ...handlerMap,
  read(node, path, context) {
    const given = handlerMap.read(node, path, context);
    if (given === undefined) return undefined;
    const drafts = given.rules ?? [];
    checkOverlaps(drafts, context);
    return { name: given.name, rules: drafts.map((draft) => draft.rule) };
  },
});

/** Exactly one rule must answer a code, whatever the order of the rules. */
function checkOverlaps(drafts: readonly RuleDraft[], context: ReadContext): void {
  const ruleOf = new Map<number, number>();
  let catchAll: number | null = null;
  for (const [place, { codes, matchAll }] of drafts.entries()) {
    for (const { value, at, path } of codes) {
      const first = ruleOf.get(value);
      if (first === undefined) ruleOf.set(value, place);
      else if (first !== place) {
        const message = `the exit code ${value} is in two rules of this handler (rules ${first + 1} and ${place + 1})`;
        context.findings.error({ code: "INVALID_VALUE", message, hint: "Keep it in one of them.", at, path });
      }
    }
    if (matchAll?.value !== true) continue;
    if (catchAll === null) catchAll = place;
    else {
      const message = `two rules of this handler match all exit codes (rules ${catchAll + 1} and ${place + 1})`;
      context.findings.error({
        code: "INVALID_VALUE",
        message,
        hint: "Keep one of them.",
        at: matchAll.at,
        path: matchAll.path,
      });
    }
  }
}

export const failureHandlers = namedListOf(handler, "failure handlers");
