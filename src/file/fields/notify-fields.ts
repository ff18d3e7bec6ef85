import { MAX_EXPRESSION_BYTES, NOTICE_KINDS, type NotifyRule } from "../../core/model/definition.js";
import { NOTICE_FIELDS, NOTICE_VARIABLE } from "../../core/notices/notice.js";
import { rename } from "../read/fix.js";
import type { Path } from "../read/path.js";
import { type NamesInText, type PlacedText, placeInText } from "../read/placed-text.js";
import type { Report } from "../read/problem.js";
import { listOf, located, mapped, object, type ReadContext, type Schema, union } from "../read/schema.js";
import { oneOf, text } from "../read/schema-scalars.js";
import type { SourceScalar } from "../read/source-tree.js";
import { didYouMean, quote } from "../read/suggest.js";
import { reportSyntax } from "./code-fields.js";

export const CHANNEL_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const CHANNEL_RULE =
  "A name has at most 100 letters, digits, `.`, `_` and `-`, and begins with a letter or a digit.";

const kind = oneOf(NOTICE_KINDS);
const channel = text({
  expected: "a channel's name",
  pattern: CHANNEL_NAME,
  rule: CHANNEL_RULE,
  // Only a warning: the server that runs the workflow may have the channel tomorrow.
  check(name, { at }, path, { channelNames, findings }) {
    if (channelNames === undefined || channelNames.includes(name)) return;
    const otherwise =
      "Fix the name, or define it under `channels` of the settings: no message is sent until then.";
    findings.warn({ ...unknownChannel(name, channelNames, findings, otherwise), at, path });
  },
});

/** The problem of an unknown channel. `otherwise` is the hint if no name is similar. */
export function unknownChannel(
  name: string,
  known: readonly string[],
  { suggester }: Pick<ReadContext["findings"], "suggester">,
  otherwise: string,
): Omit<Report, "at" | "path"> {
  const suggestion = suggester.nearest(name, known);
  return {
    code: "UNKNOWN_CHANNEL",
    message: `there is no channel ${quote(name)}${didYouMean(suggestion)}`,
    hint: suggestion === null ? otherwise : `Rename it to \`${suggestion}\`.`,
    mending: rename(name, suggestion),
  };
}

const oneOrMore = <T, W>(item: Schema<T, W>, items: string): Schema<readonly T[], W | readonly W[]> =>
  union(
    listOf(item, { items, notEmpty: true }),
    mapped(item, (only): readonly T[] => [only]),
  );

/** It sees the message alone: a run may be gone by the time it is asked. */
const when = text({
  expected: "a JavaScript expression",
  check(code, node, path, context) {
    const given: PlacedText = { language: "expression", text: code, node, path };
    const bytes = new TextEncoder().encode(code).length;
    if (bytes > MAX_EXPRESSION_BYTES) {
      const message = `the expression has ${bytes} bytes, more than ${MAX_EXPRESSION_BYTES}`;
      return void context.findings.error({ code: "EXPRESSION_TOO_LONG", message, at: node.at, path });
    }
    const problem = context.checkExpression(code);
    if (problem !== null) return reportSyntax("EXPRESSION_SYNTAX", problem, given, context);
    const names = context.findNames?.inExpression(code) ?? null;
    if (names !== null) checkNames(names, given, { node, path, context });
  },
});

interface TextSource {
  readonly node: SourceScalar;
  readonly path: Path | null;
  readonly context: ReadContext;
}

function checkNames({ reads, hidden }: NamesInText, given: PlacedText, place: TextSource): void {
  const { node, path, context } = place;
  const globals = context.findNames?.globals;
  for (const { path: parts } of reads) {
    const [root, member] = parts;
    const tell = (part: NonNullable<typeof root>, what: string, known: readonly string[], hint: string) => {
      const suggestion = context.findings.suggester.nearest(part.name, known);
      context.findings.error({
        code: "UNKNOWN_NAME",
        message: `${what}${didYouMean(suggestion)}`,
        hint: suggestion === null ? hint : `Rename it to \`${suggestion}\`.`,
        ...{ at: node.at, path, inside: placeInText(given, part.at), mending: rename(part.name, suggestion) },
      });
    };
    const fields = `Fields of \`${NOTICE_VARIABLE}\`: ${NOTICE_FIELDS.join(", ")}.`;
    if (root!.name !== NOTICE_VARIABLE) {
      const hint = `Only \`${NOTICE_VARIABLE}\` is known here. ${fields}`;
      if (globals?.has(root!.name) !== true && !hidden)
        tell(root!, `unknown name ${quote(root!.name)}`, [NOTICE_VARIABLE], hint);
    } else if (member !== undefined && !(NOTICE_FIELDS as readonly string[]).includes(member.name))
      tell(member, `\`${NOTICE_VARIABLE}\` has no field ${quote(member.name)}`, NOTICE_FIELDS, fields);
  }
}

const rule = object({
  on: {
    schema: oneOrMore(kind, "kinds of messages"),
    doc: `What to tell: ${NOTICE_KINDS.join(", ")}.`,
    required: true,
  },
  to: {
    schema: oneOrMore(located(channel), "channels' names"),
    doc: "The channel of the settings to which it goes, or a list of them.",
    required: true,
  },
  when: {
    schema: when,
    doc: "A JavaScript expression over `notice`; if it is false, nothing is told. One that fails counts as true.",
  },
});

/** Rules with the places of the channels' names, for a later check against the known channels. */
export const placedNotify = listOf(rule, { items: "rules with `on` and `to`" });
export type PlacedRules = NonNullable<ReturnType<typeof placedNotify.read>>;

export const notify = mapped(placedNotify, toRules);

export function toRules(rules: PlacedRules): NotifyRule[] {
  return rules.map(({ on = [], to = [], when: condition }) => ({
    on: [...new Set(on)],
    to: [...new Set(to.map(({ value }) => value))],
    when: condition ?? null,
  }));
}
