import { readFileSync } from "node:fs";
import type { SecretPlace } from "../../core/schedule/webhook.js";

const MAX_SECRET_CHARS = 10_000;
/** Reading a file takes time that would tell that there is one; and a secret may be replaced while the server runs. */
const FRESH_MS = 10_000;

/** Secrets of webhooks, read when they are needed. */
export class WebhookSecrets {
  private readonly files = new Map<string, { readonly value: string | null; readonly readAt: number }>();

  constructor(
    private readonly env: { readonly [name: string]: string | undefined },
    private readonly elapsed: () => number,
  ) {}

  /** Null: there is none. */
  find(place: SecretPlace): string | null {
    return "variable" in place ? usable(this.env[place.variable]) : this.fromFile(place.file);
  }

  private fromFile(file: string): string | null {
    const known = this.files.get(file);
    const now = this.elapsed();
    if (known !== undefined && now - known.readAt < FRESH_MS) return known.value;
    const value = usable(readIfThere(file));
    this.files.set(file, { value, readAt: now });
    return value;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function usable(text: string | undefined): string | null {
  const secret = (text ?? "").trim();
  return secret === "" || secret.length > MAX_SECRET_CHARS || /[\r\n]/.test(secret) ? null : secret;
}

/** How people know it. */
export function placeName(place: SecretPlace): string {
  return "variable" in place ? `the variable ${place.variable}` : `the file ${place.file}`;
}
