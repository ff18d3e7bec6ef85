import { createRedactor, type Redactor } from "../../core/redaction/redaction.js";

/** Redactors for workflows' secrets, with values from one environment. Each set of names gets one. */
export class Redactors {
  private readonly known = new Map<string, Redactor>();

  constructor(private readonly env: { readonly [name: string]: string | undefined }) {}

  for(secrets: readonly string[]): Redactor {
    const key = secrets.join("\0");
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const made = createRedactor(
      secrets.flatMap((name) => (this.env[name] ? [{ name, value: this.env[name] }] : [])),
    );
    this.known.set(key, made);
    return made;
  }
}
