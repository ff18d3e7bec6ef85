import { DarumaError } from "../core/errors/errors.js";

/** A schema of zod, valibot, arktype or any other library that follows https://standardschema.dev. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaInput<S> = S extends StandardSchema<infer Input, unknown> ? Input : never;
export type SchemaOutput<S> = S extends StandardSchema<unknown, infer Output> ? Output : never;

/** Limit for how many things that do not fit are named. */
const MAX_NAMED = 5;

/** What the schema makes of a value. Throws a DarumaError with this code that names what does not fit, and where. */
export async function fitted<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
  about: { readonly name: string; readonly code: "INVALID_INPUT" | "OUTPUT_INVALID" },
): Promise<Output> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const named = result.issues
    .slice(0, MAX_NAMED)
    .map((issue) => `${placeOf(about.name, issue)}: ${issue.message}`);
  const more = result.issues.length - named.length;
  throw new DarumaError(about.code, `${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}`);
}

function placeOf(name: string, { path = [] }: SchemaIssue): string {
  return [name, ...path.map((each) => String(typeof each === "object" ? each.key : each))].join(".");
}
