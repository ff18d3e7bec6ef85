import type { Json } from "../../text/json.js";
import type { Definition, StepDefinition } from "../definition.js";
import type { FailureFacts } from "../failure.js";
import type { Run } from "../run.js";

/** Values by name that a job has written. */
export type UserData = { readonly [name: string]: Json };

/** Limit for all values that one attempt writes, as JSON, because they are part of the log. */
export const MAX_USER_DATA_BYTES = 64 * 1024;
/** Limit for all values that one attempt reads, as JSON. */
export const MAX_GIVEN_USER_DATA_BYTES = 16 * 1024 * 1024;

/** The size as JSON in UTF-8. */
export function bytesOf(values: UserData): number {
  return new TextEncoder().encode(JSON.stringify(values)).length;
}

/** What a job of this step is given: a name that has no value, because who writes it has not completed, is left out. */
export function givenUserData(run: Pick<Run, "definition" | "userData">, names: readonly string[]): UserData {
  return Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const value = run.userData.has(name) ? run.userData.get(name)! : initialValue(run.definition, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A name may be that of a key that every object inherits. */
function initialValue({ userData = {} }: Pick<Definition, "userData">, name: string): Json | undefined {
  return Object.hasOwn(userData, name) ? userData[name] : undefined;
}

/** Why written values are refused. Null if the attempt has written exactly what its step declares. */
export function refuseUserData(
  { userData }: Pick<StepDefinition, "userData">,
  written: UserData,
): FailureFacts | null {
  const declared = userData?.outputs ?? [];
  if (declared.length === 0) return null;
  const missing = declared.find((name) => !Object.hasOwn(written, name));
  if (missing !== undefined)
    return {
      code: "OUTPUT_MISSING",
      message: `the job ended without writing the user data ${missing} to $DARUMA_USER_DATA_OUT`,
    };
  const known = new Set(declared);
  const other = Object.keys(written).find((name) => !known.has(name));
  if (other === undefined) return null;
  const message = `the job wrote the user data ${other}, which is not in its output_user_data`;
  return { code: "OUTPUT_INVALID", message };
}

/** What a completed job has written: each value has one writer, so the run's is the job's. */
export function writtenUserData(
  run: Pick<Run, "userData">,
  { userData }: Pick<StepDefinition, "userData">,
): { readonly user_data?: UserData } {
  const written = (userData?.outputs ?? []).flatMap((name): [string, Json][] =>
    run.userData.has(name) ? [[name, run.userData.get(name)!]] : [],
  );
  return written.length === 0 ? {} : { user_data: Object.fromEntries(written) };
}

export function keepUserData(run: Pick<Run, "userData">, written: UserData | undefined): void {
  for (const [name, value] of Object.entries(written ?? {})) run.userData.set(name, value);
}
