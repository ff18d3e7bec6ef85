import type { UserData } from "../../core/model/batch/user-data.js";
import type { JobDraft, Unfilled } from "../fields/job-fields.js";
import type { RawUserData } from "../fields/read-step.js";
import type { StepEntry } from "../fields/step-entries.js";
import type { UserDataDraft } from "../fields/user-data-fields.js";
import type { Findings } from "../read/problem.js";
import type { ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";
import { buildFamilies, type FamilyKind, type Member, type ParameterLists } from "./families.js";
import { NamedItems, referencesIn } from "./named-items.js";

const USER_DATA: FamilyKind = { items: "user data", max: 400_000, sharesNames: false, checkName: () => true };
const KEYS = [
  "input_user_data",
  "output_user_data",
  "input_user_data_regexes",
  "output_user_data_regexes",
] as const;

/** The values that jobs read and write by name; null where it is open which there are, which was reported. */
export function buildJobUserData(
  drafts: readonly UserDataDraft[],
  shared: ParameterLists | undefined,
  context: ReadContext,
): JobUserData | null {
  const families = buildFamilies(drafts, USER_DATA, shared, context);
  if (families === null) return null;
  const members = families.flatMap(({ draft, members }) =>
    members.map(({ id }) => ({ id, keys: draft.keys })),
  );
  const names = new Map(members.map(({ id }) => [id, id]));
  return new JobUserData(
    new NamedItems(families, names, { what: "user data", list: "user_data" }, context),
    Object.fromEntries(
      members.flatMap(({ id, keys: { data } }) => (data === undefined ? [] : [[id, data.value]])),
    ),
    new Set(members.flatMap(({ id, keys }) => (keys.is_ephemeral === true ? [id] : []))),
    context.findings,
  );
}

export class JobUserData {
  constructor(
    private readonly items: NamedItems,
    /** What values are before any job writes them. */
    readonly initial: UserData,
    private readonly ephemeral: ReadonlySet<string>,
    private readonly findings: Findings,
  ) {}

  of({ keys }: JobDraft, member: Member): RawUserData | undefined {
    this.refuseReferences([keys.invocation_script, keys.command]);
    if (KEYS.every((key) => keys[key] === undefined)) return undefined;
    const inputs = this.items.of(keys.input_user_data, keys.input_user_data_regexes, member);
    const outputs = this.items.of(keys.output_user_data, keys.output_user_data_regexes, member);
    return { inputs, outputs, ephemeral: outputs.some(({ value }) => this.ephemeral.has(value)) };
  }

  /** A value is not part of a command's text: it is known only when the job that writes it has ended. */
  private refuseReferences(texts: readonly (Unfilled | undefined)[]): void {
    for (const direction of ["input", "output"] as const)
      for (const { value: name, at, path } of referencesIn(texts, "user_data", direction)) {
        const message = `\`\${user_data.${direction}.${name}}\` cannot be used here: jobs pass user data through files`;
        const hint =
          direction === "input"
            ? `Name it in \`input_user_data\` and read it from the file: jq '."${name}"' "$DARUMA_USER_DATA_IN".`
            : `Name it in \`output_user_data\` and write {"${name}": ...} to the file "$DARUMA_USER_DATA_OUT".`;
        this.findings.error({ code: "INVALID_VALUE", message, hint, at, path });
      }
  }

  /** A value that is read must come from somewhere. */
  checkGiven(entries: readonly StepEntry[]): void {
    const written = new Set(
      entries.flatMap(({ raw }) => raw?.userData?.outputs.map(({ value }) => value) ?? []),
    );
    for (const { id, raw } of entries)
      for (const { value, at, path } of raw?.userData?.inputs ?? []) {
        if (written.has(value) || Object.hasOwn(this.initial, value)) continue;
        const message = `${quote(id)} reads the user data ${quote(value)}, which has no \`data\` and which no job writes`;
        const hint = `Give ${quote(value)} a \`data\` in the list \`user_data\`, or name it in the \`output_user_data\` of the job that writes it.`;
        this.findings.error({ code: "INVALID_VALUE", message, hint, at, path });
      }
  }
}
