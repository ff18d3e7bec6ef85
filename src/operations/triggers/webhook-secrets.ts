import type { SecretPlace } from "../../core/text/secret-place.js";
import { type Environment, type FoundSecret, findSecret } from "../../tell/channels/find-secret.js";

/** Reading a file takes time that would tell that there is one; and a secret may be replaced while the server runs. */
const FRESH_MS = 10_000;

/** Secrets of webhooks, read when they are needed. */
export class WebhookSecrets {
  private readonly files = new Map<string, { readonly found: FoundSecret; readonly readAt: number }>();

  constructor(
    private readonly env: Environment,
    private readonly elapsed: () => number,
  ) {}

  find(place: SecretPlace): FoundSecret {
    if ("variable" in place) return findSecret(place, this.env);
    const known = this.files.get(place.file);
    const now = this.elapsed();
    if (known !== undefined && now - known.readAt < FRESH_MS) return known.found;
    const found = findSecret(place, this.env);
    this.files.set(place.file, { found, readAt: now });
    return found;
  }
}
