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
/** What a hash is of. */
export type Sign = "token" | "session";

interface Known<T> {
  readonly value: T;
  readonly at: number;
}

/**
 * Tokens as the store last knew them. One that is good is not looked up again for a while, and goes on to be good for
 * some minutes while the store is away. Revoked by this server it ends at once, by another as soon as the database
 * tells, else when it is looked up next. What the store does not know is asked for every time.
 */
export class RememberedTokens {
  private readonly known = new Map<string, Known<TokenRow>>();
  /** Under way: a store that is away must not be asked once for each request. */
  private readonly asked = new Map<string, Promise<TokenRow | null>>();
  private any: Known<boolean> | null = null;
  /** Counts what was revoked: an answer that was on its way meanwhile may be out of date. */
  private revocations = 0;
  private readonly unsubscribe: () => void;

  constructor(
    private readonly store: TokenStore,
    /** It never jumps: a clock that is set back would make a token count for longer. */
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
   * Tokens are never deleted: once there is one, there always is. That there is none may be known for `freshMs`; by
   * default it is asked every time, because from the first token on every request needs one.
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

  /** What is known counts where the store fails, or takes too long; it goes on being asked then. */
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

  /** Something that is known may have ended. */
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
