import type { ErrorCode } from "../../core/errors/errors.js";
import type { BreakerDefinition, ResourceRequirements } from "../../core/model/definition.js";
import type { HandlerDraft } from "../fields/failure-handler-fields.js";
import type { NamedResources, ResourceDraft } from "../fields/resource-fields.js";
import { rename } from "../read/fix.js";
import type { Located, ReadContext } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";

/** Looks up what steps name in the lists at the top of the file. */
export class References {
  private readonly handlerNames: ReadonlySet<string>;
  private readonly resourcesByName: ReadonlyMap<string, ResourceRequirements>;

  private readonly breakerNames: ReadonlySet<string>;

  constructor(
    {
      failure_handlers: handlers = [],
      resource_requirements: resources = [],
      breakers = [],
    }: {
      readonly failure_handlers?: readonly HandlerDraft[] | undefined;
      readonly resource_requirements?: readonly NamedResources[] | undefined;
      readonly breakers?: readonly BreakerDefinition[] | undefined;
    },
    private readonly context: ReadContext,
  ) {
    this.breakerNames = new Set([...breakers.map(({ name }) => name), ...context.sharedBreakers]);
    this.handlerNames = new Set(handlers.flatMap(({ name }) => (name === undefined ? [] : [name.value])));
    this.resourcesByName = new Map(
      resources.flatMap(({ name, value }) => (name === undefined ? [] : [[name.value, value] as const])),
    );
  }

  handler(name: Located<string> | undefined): string | null {
    if (name === undefined) return null;
    if (!this.handlerNames.has(name.value))
      this.reportUnknown("UNKNOWN_HANDLER", "failure handler", "failure_handlers", name, this.handlerNames);
    return name.value;
  }

  resources(draft: ResourceDraft | undefined): ResourceRequirements | null {
    if (draft === undefined) return null;
    if (draft.kind === "inline") return draft.value;
    const found = this.resourcesByName.get(draft.name.value);
    if (found !== undefined) return found;
    const names = this.resourcesByName.keys();
    this.reportUnknown("INVALID_VALUE", "resource requirements", "resource_requirements", draft.name, names);
    return null;
  }

  /** The breakers' names, from the file or the settings. Undefined if the step uses none. */
  breakers(names: readonly Located<string>[] = []): readonly string[] | undefined {
    for (const name of names) if (!this.breakerNames.has(name.value)) this.reportUnknownBreaker(name);
    return names.length === 0 ? undefined : [...new Set(names.map(({ value }) => value))];
  }

  private reportUnknownBreaker({ value, at, path }: Located<string>): void {
    const { findings } = this.context;
    const suggestion = findings.suggester.nearest(value, this.breakerNames);
    const message = `neither this file nor the settings have a breaker ${quote(value)}${didYouMean(suggestion)}`;
    const define = "define it under `breakers` here, or name the settings that have it with --config";
    const hint =
      suggestion === null
        ? `${define[0]!.toUpperCase()}${define.slice(1)}.`
        : `Rename it to \`${suggestion}\`, or ${define}.`;
    findings.error({ code: "UNKNOWN_BREAKER", message, hint, at, path, mending: rename(value, suggestion) });
  }

  private reportUnknown(
    code: ErrorCode,
    what: string,
    list: string,
    { value, at, path }: Located<string>,
    known: Iterable<string>,
  ): void {
    const { findings } = this.context;
    const suggestion = findings.suggester.nearest(value, known);
    const message = `the file has no ${what} ${quote(value)}${didYouMean(suggestion)}`;
    const hint =
      suggestion === null
        ? `Define it under \`${list}\`.`
        : `Rename it to \`${suggestion}\`, or define it under \`${list}\`.`;
    findings.error({ code, message, hint, at, path, mending: rename(value, suggestion) });
  }
}
