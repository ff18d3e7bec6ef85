import type { Store } from "../store/store.js";
import type { TokenRow } from "../store/token-rows.js";
import {
  MAX_REMEMBERED_TOKENS,
  SESSION_FRESH_MS,
  TOKEN_FRESH_MS,
  TOKEN_LOOK_UP_MS,
  TOKEN_STALE_MS,
} from "./limits.js";

export type TokenStore = Pick<Store, "findToken" | "findSession" | "listTokens" | "onChange">;
/** What was hashed: a token or a session id. */
export type Sign = "token" | "session";

interface Known<T> {
  readonly value: T;
  readonly at: number;
}

/**
 * Caches tokens. A good one is not looked up again for a while, and still counts for some minutes while the store is
 * down. A token revoked by this server ends at once; one revoked by another server ends when the database notifies this
 * one, or at the next look-up. Unknown tokens are looked up every time.
 */
export class RememberedTokens {
  private readonly known = new Map<string, Known<TokenRow>>();
  /** Look-ups in progress, so that requests share them while the store is slow. */
  private readonly asked = new Map<string, Promise<TokenRow | null>>();
  private any: Known<boolean> | null = null;
  /** Counts revocations. A look-up that began before one may be out of date. */
  private revocations = 0;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly store: TokenStore,
    /** A monotonic clock: if it could be set back, a token would count for longer. */
    private readonly elapsed: () => number = () => performance.now(),
  ) {
    this.unsubscribe = store.onChange(({ kind }) => kind === "revoked" && this.forget());
  }

  async find(hash: string, sign: Sign = "token"): Promise<TokenRow | null> {
    const known = this.known.get(keyOf(hash, sign)) ?? null;
    const freshMs = sign === "token" ? TOKEN_FRESH_MS : SESSION_FRESH_MS;
    if (known !== null && this.ageOf(known) < freshMs) return known.value;
    return this.unlessAway(known, () => this.ask(hash, sign));
  }

  /**
   * Whether any token exists. Tokens are never deleted, so true stays true. False may be cached for `freshMs`; by
   * default it is not cached, because every request needs a token from the first token on.
   */
  async areThere(freshMs = 0): Promise<boolean> {
    const { any } = this;
    if (any !== null && (any.value || this.ageOf(any) < freshMs)) return any.value;
    return this.unlessAway(any, async () => {
      const value = (await this.store.listTokens()).length > 0;
      this.any = { value, at: this.elapsed() };
      return value;
    });
  }

  close(): void {
    this.unsubscribe();
  }

  private ask(hash: string, sign: Sign): Promise<TokenRow | null> {
    const key = keyOf(hash, sign);
    const underWay = this.asked.get(key);
    if (underWay !== undefined) return underWay;
    const asked = this.lookUp(hash, sign).finally(() => {
      if (this.asked.get(key) === asked) this.asked.delete(key);
    });
    this.asked.set(key, asked);
    return asked;
  }

  private async lookUp(hash: string, sign: Sign): Promise<TokenRow | null> {
    const { revocations } = this;
    const key = keyOf(hash, sign);
    const at = this.elapsed();
    const row = await (sign === "token" ? this.store.findToken(hash) : this.store.findSession(hash));
    this.known.delete(key);
    if (row === null || row.revoked_at !== null || revocations !== this.revocations) return row;
    for (const oldest of this.known.keys()) {
      if (this.known.size < MAX_REMEMBERED_TOKENS) break;
      this.known.delete(oldest);
    }
    this.known.set(key, { value: row, at });
    return row;
  }

  /** Falls back on the known value if the store fails or takes too long. A slow look-up continues meanwhile. */
  private async unlessAway<T>(known: Known<T> | null, ask: () => Promise<T>): Promise<T> {
    if (known === null || this.ageOf(known) >= TOKEN_STALE_MS) return ask();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<T>((resolve) => {
      timer = setTimeout(resolve, TOKEN_LOOK_UP_MS, known.value);
    });
    try {
      return await Promise.race([ask().catch(() => known.value), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Clears the cache, because a token or session may have ended. */
  forget(): void {
    this.revocations += 1;
    this.known.clear();
    this.asked.clear();
  }

  private ageOf({ at }: Known<unknown>): number {
    return this.elapsed() - at;
  }
}

function keyOf(hash: string, sign: Sign): string {
  return `${sign} ${hash}`;
}
