import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { expectationAt } from "../../operations/invalid-input.js";
import type { CliForm, Operation } from "../../operations/operation.js";
import { OPERATIONS } from "../../operations/operations.js";
import { openClient } from "../remote/open-client.js";
import { usualHeading } from "./command-groups.js";
import { type CommandShape, SHAPES } from "./command-shapes.js";
import type { Declaration, Given } from "./declaration.js";
import { presenterOf } from "./presenters.js";

const GROUPS: { readonly [word: string]: string } = {
  allocations: "list, show and end allocations: jobs of a cluster that run workers",
  cluster: "plan allocations on a cluster",
  campaigns: "retry or decide the failed jobs of many runs at once",
  edge: "add, change or remove one edge of a workflow file",
  failures: "what runs have failed with",
  job: "show one job, or decide it",
  token: "create, list and revoke tokens of the server",
  workflow: "save, check, publish and compare stored workflows",
};

/**
 * Declares operations as commands, except those already declared by hand. It declares only those that begin with the
 * given word, or all if none does, since declaring all takes 30 ms.
 */
export function declareOperations({ program, act }: Declaration, word: string): void {
  const all = OPERATIONS.flatMap((operation) => operation.cli.map((form) => ({ operation, form })));
  const meant = all.filter(({ form }) => form.words.split(" ")[0] === word);
  for (const { operation, form } of meant.length > 0 ? meant : all)
    if (findCommand(program, form.words) === undefined) declareForm({ program, act }, operation, form);
}

function declareForm({ program, act }: Declaration, operation: Operation, form: CliForm): void {
  const shape = SHAPES[form.words] ?? {};
  const command = addCommand(program, form.words, usualHeading(operation));
  command.description(form.summary ?? operation.summary);
  const fields = new Fields(operation, shape.words ?? {});
  const positional = form.positional.map(readPositional);
  for (const argument of shape.arguments ?? positional.map((place) => fields.argument(place)))
    command.addArgument(argument);
  const taken = new Set([
    ...positional.map(({ field }) => field),
    ...Object.keys(form.preset ?? {}),
    ...(shape.hides ?? []),
  ]);
  const optional = Object.keys(operation.input.shape).filter((field) => !taken.has(field));
  const flags = optional.map((field) => fields.option(field, shape));
  for (const option of [...(shape.options ?? []), ...flags.map(({ option: each }) => each)])
    command.addOption(option);
  if (shape.usage !== undefined) command.usage(shape.usage);
  command.addHelpText("after", helpText(form, shape));
  command.action((...words: unknown[]) =>
    act(async (session) => {
      const args = words.slice(0, -2);
      const given = command.opts<{ [flag: string]: unknown }>();
      const input: { [field: string]: unknown } = { ...form.preset };
      if (shape.arguments === undefined)
        for (const [place, { field }] of positional.entries()) set(input, field, args[place]);
      for (const { field, option } of flags) set(input, field, given[option.attributeName()]);
      const client = await openClient(session.options);
      try {
        const present = await presenterOf(form.words, operation.name);
        return await present({ input, args, flags: given } satisfies Given, session, client);
      } finally {
        await client.close();
      }
    }),
  );
}

function set(input: { [field: string]: unknown }, field: string, value: unknown): void {
  if (value !== undefined && !(Array.isArray(value) && value.length === 0)) input[field] = value;
}

export function findCommand(program: Command, words: string): Command | undefined {
  let at: Command | undefined = program;
  for (const word of words.split(" ")) at = at?.commands.find((command) => command.name() === word);
  return at;
}

function addCommand(program: Command, words: string, heading: string): Command {
  const [first, second] = words.split(" ");
  if (second === undefined) return program.command(first!).helpGroup(heading);
  const group =
    findCommand(program, first!) ??
    program
      .command(first!)
      .description(GROUPS[first!] ?? "")
      .helpGroup(heading);
  return group.command(second);
}

interface Positional {
  readonly field: string;
  readonly isOptional: boolean;
  readonly isMany: boolean;
}

/** Parses `run_id`, `[step]` or `[run_id...]`. */
function readPositional(text: string): Positional {
  const isOptional = text.startsWith("[");
  const inner = text.replace(/^\[|\]$/g, "");
  return { field: inner.replace(/\.\.\.$/, ""), isOptional, isMany: inner.endsWith("...") };
}

function helpText({ examples }: CliForm, { details }: CommandShape): string {
  const shown = `\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}`;
  return details === undefined ? shown : `\n${details}\n${shown}`;
}

/** The fields of an operation's input as arguments and flags. */
class Fields {
  private readonly described: { readonly [field: string]: z.core.JSONSchema._JSONSchema };

  constructor(
    private readonly operation: Operation,
    private readonly words: { readonly [field: string]: string },
  ) {
    const schema = z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" });
    this.described = schema.properties ?? {};
  }

  argument({ field, isOptional, isMany }: Positional): Argument {
    const name = `${argumentName(field)}${isMany ? "..." : ""}`;
    const argument = new Argument(isOptional ? `[${name}]` : `<${name}>`, this.text(field));
    const parse = this.parser(field, isListOnly(this.described[field]));
    return argument.argParser<unknown>((text, before) =>
      isMany ? [...((before as readonly unknown[] | undefined) ?? []), parse(text)].flat() : parse(text),
    );
  }

  option(field: string, shape: CommandShape): { readonly field: string; readonly option: Option } {
    const flag = shape.flagNames?.[field] ?? field.replaceAll("_", "-");
    const schema = this.operation.input.shape[field] as z.ZodType;
    const usual = schema.safeParse(undefined);
    const isRequired = !usual.success;
    const value = usual.success ? usual.data : undefined;
    if (typeof value === "boolean") {
      const option = new Option(value ? `--no-${flag}` : `--${flag}`, this.text(field));
      return { field, option };
    }
    const choices = longChoices(this.described[field]);
    const option = new Option(
      `--${flag} <${choices === null ? placeholder(this.described[field]) : flag}>`,
      [this.text(field), choices].filter((part) => part !== null).join(": ") + this.usual(field, value),
    );
    option.makeOptionMandatory(isRequired);
    const parse = this.parser(field);
    if (isList(this.described[field]))
      option.argParser((text, before) => [...((before as unknown[]) ?? []), ...text.split(",")]);
    else option.argParser(parse);
    return { field, option };
  }

  /** The default as it would be typed: `1h`, even if the field becomes a number of milliseconds. */
  private usual(field: string, value: unknown): string {
    const typed = (this.described[field] as { default?: unknown } | undefined)?.default ?? value;
    return typed === undefined ? "" : ` (default: ${JSON.stringify(typed)})`;
  }

  /** The help text, which begins with a lower-case letter and has no full stop. */
  private text(field: string): string {
    const own = this.words[field];
    if (own !== undefined) return own;
    const schema = this.operation.input.shape[field] as z.ZodType;
    const text = this.described[field] as { description?: string } | undefined;
    const said = (schema.description ?? text?.description ?? "").replace(/\.$/, "");
    return said.charAt(0).toLowerCase() + said.slice(1);
  }

  /** Parses one field. With `isListOnly` the field takes no text, so one argument makes a list of one. */
  private parser(field: string, isListOnly = false): (text: string) => unknown {
    const schema = this.operation.input.shape[field] as z.ZodType;
    return (text) => {
      const parsed = schema.safeParse(isListOnly ? [text] : text);
      if (parsed.success) return parsed.data;
      if (field === "run_id") throw new InvalidArgumentError("Use the number of a run, or last.");
      const { code, message } = parsed.error.issues[0]!;
      if (code === "custom") throw new InvalidArgumentError(`It ${message}.`);
      const expected = expectationAt(this.operation.input, [field]);
      throw new InvalidArgumentError(expected === null ? `${message}.` : `It must be ${expected}.`);
    };
  }
}

function isListOnly(described: z.core.JSONSchema._JSONSchema | undefined): boolean {
  return typeof described === "object" && described.type === "array";
}

function argumentName(field: string): string {
  return field.replace(/_id$/, "").replace(/Id$/, "").replaceAll("_", "-");
}

function isList(schema: z.core.JSONSchema._JSONSchema | undefined): boolean {
  const { type, anyOf } = (schema ?? {}) as { type?: unknown; anyOf?: { type?: unknown }[] };
  return type === "array" || (anyOf ?? []).some((each) => each.type === "array");
}

/** Limit for the placeholder of a flag, which determines the width of the flag column. */
const MAX_PLACEHOLDER = 24;

/** The choices if they are too long for the flag itself; null if not. */
function longChoices(schema: z.core.JSONSchema._JSONSchema | undefined): string | null {
  const { enum: words = [] } = (schema ?? {}) as { enum?: readonly unknown[] };
  if (words.join("|").length <= MAX_PLACEHOLDER) return null;
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function placeholder(schema: z.core.JSONSchema._JSONSchema | undefined): string {
  const described = (schema ?? {}) as { type?: unknown; anyOf?: { type?: unknown }[]; enum?: unknown[] };
  if (described.enum !== undefined) return described.enum.join("|");
  if (isList(schema)) return "list";
  const types = [described, ...(described.anyOf ?? [])].map(({ type }) => type);
  const isNumber = types.some((type) => type === "integer" || type === "number");
  return isNumber && !types.includes("string") ? "n" : "text";
}
