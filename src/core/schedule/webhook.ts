import type { Json } from "../text/json.js";
import type { SecretPlace } from "../text/secret-place.js";

export const WEBHOOK_FORMS = ["standard", "github"] as const;

/** What starts a published workflow from outside. */
export interface WebhookDefinition {
  readonly secret: SecretPlace;
  /** How requests are signed. */
  readonly form: (typeof WEBHOOK_FORMS)[number];
  /** An expression; a request for which it is not true starts nothing. Null: every request starts a run. */
  readonly when: string | null;
  /** Templates over the request. */
  readonly inputs: { readonly [name: string]: Json };
}

/** What expressions and templates of a webhook see of a request. */
export const WEBHOOK_NAMES = ["body", "event"] as const;

/** Steps see the variables of the server, and this one is nobody's affair. */
export function hiddenNames(webhook: WebhookDefinition | undefined): readonly string[] {
  return webhook !== undefined && "variable" in webhook.secret ? [webhook.secret.variable] : [];
}
