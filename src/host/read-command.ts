import { DarumaError } from "../core/errors/errors.js";
import {
  commandFields,
  OPERATOR_TYPES,
  type OperatorCommand,
  type OperatorRequest,
} from "../core/model/commands.js";
import { didYouMean, quote, Suggester } from "../file/read/suggest.js";
import { DEFAULT_REASON } from "../operations/operator-words.js";
import { plainData } from "./take-run.js";

type Plain = { readonly [name: string]: unknown };

/**
 * A program's command in full; `idOf` finds the job that is named by its step. Throws INVALID_INPUT for one that the
 * compiler would not have let pass.
 */
export async function readCommand(
  given: OperatorRequest,
  idOf: (job: string) => Promise<number>,
): Promise<OperatorCommand> {
  const plain = await withJobIds({ ...plainData(given, "command") }, idOf);
  const type = OPERATOR_TYPES.find((each) => each === plain.type);
  if (type === undefined) throw unknown("command", String(plain.type), OPERATOR_TYPES);
  const { known, needed } = commandFields(type, plain);
  const misspelt = Object.keys(plain).find((name) => !known.includes(name));
  if (misspelt !== undefined) throw unknown(`field of ${type}`, misspelt, known);
  const usual = { key: null, ...(needed.includes("reason") ? { reason: DEFAULT_REASON } : {}) };
  const command = { ...usual, ...plain };
  const { wrong } = commandFields(type, command);
  if (wrong.length === 0) return command as unknown as OperatorCommand;
  const message = `the command ${type} lacks ${wrong.join(" and ")}, or has something else there`;
  throw new DarumaError("INVALID_INPUT", message, { hint: `It has ${known.join(", ")}.` });
}

/** With ids where steps are named, and with null for what an item leaves out. */
async function withJobIds(command: Plain, idOf: (job: string) => Promise<number>): Promise<Plain> {
  const id = async (job: unknown): Promise<unknown> => (typeof job === "string" ? await idOf(job) : job);
  const ids: { [name: string]: unknown } = { ...command };
  if ("job" in command) ids.job = await id(command.job);
  if (Array.isArray(command.also)) ids.also = await Promise.all(command.also.map(id));
  if (Array.isArray(command.items)) {
    const nothing = command.type === "holds.resolve" ? { output: null, items: null } : {};
    ids.items = await Promise.all(
      command.items.map(async (item: Plain | null) => ({ ...nothing, ...item, job: await id(item?.job) })),
    );
  }
  return ids;
}

function unknown(what: string, name: string, known: readonly string[]): DarumaError {
  const message = `unknown ${what} ${quote(name)}${didYouMean(new Suggester().nearest(name, known))}`;
  return new DarumaError("INVALID_INPUT", message, { hint: `Use one of ${known.join(", ")}.` });
}
