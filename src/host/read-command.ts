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

/** A program's command in full. Throws INVALID_INPUT for one that the compiler would not have let pass. */
export function readCommand(given: OperatorRequest): OperatorCommand {
  const plain: { readonly [name: string]: unknown } = { ...plainData(given, "command") };
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

function unknown(what: string, name: string, known: readonly string[]): DarumaError {
  const message = `unknown ${what} ${quote(name)}${didYouMean(new Suggester().nearest(name, known))}`;
  return new DarumaError("INVALID_INPUT", message, { hint: `Use one of ${known.join(", ")}.` });
}
