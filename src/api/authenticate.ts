import { randomBytes } from "node:crypto";
import { DarumaError } from "../core/errors/errors.js";
import type { Principal } from "../operations/context.js";
import { ROLES, type Role } from "../operations/roles.js";
import type { Store } from "../store/store.js";
import type { TokenRow } from "../store/token-rows.js";
import { hashOfToken } from "../store/token-text.js";
import {
  MAX_REMEMBERED_TOKENS,
  MAX_WRONG_TOKENS_PER_MINUTE,
  SESSION_FRESH_MS,
  SESSION_MS,
  TOKEN_FRESH_MS,
  TOKEN_LOOK_UP_MS,
  TOKEN_STALE_MS,
} from "./limits.js";
import { RateWindow } from "./rate-window.js";

type TokenStore = Pick<Store, "findToken" | "findSession" | "listTokens" | "onChange">;
/** What was hashed: a token or a session id. */
type Sign = "token" | "session";

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

/** The caller, and the name under which its requests are counted. */
export interface Caller {
  readonly principal: Principal;
  readonly key: string;
  /** The id of the caller's token; null if no tokens exist. */
  readonly token: number | null;
  /** When the token expires; null for never. */
  readonly expiresAt: number | null;
  /** Whether the page asks, with a session cookie. */
  readonly bySession: boolean;
}

/** The credentials of a request. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** The session id in the cookie; null if there is none, or if it does not count on this route. */
  readonly session: string | null;
}

interface AuthenticatorOptions {
  readonly store: SessionStore;
  readonly now: () => number;
  /** Requires a token even if none exists yet. */
  readonly requireTokens: boolean;
}

type SessionStore = TokenStore & Pick<Store, "putSession" | "endSession">;

/** Stands for the session id if a request has several, since none can be trusted. */
export const COOKIE_TWICE = "twice";

const LOCAL: Principal = { name: "local", role: "admin" };
const SESSION_ID_BYTES = 32;
const TOKEN = /^Bearer +([A-Za-z0-9_-]{16,200})$/i;

/** Determines the caller by the token of the request. */
export class Authenticator {
  private readonly wrong: RateWindow;
  private readonly tokens: RememberedTokens;

  constructor(private readonly options: AuthenticatorOptions) {
    this.wrong = new RateWindow(MAX_WRONG_TOKENS_PER_MINUTE, options.now);
    this.tokens = new RememberedTokens(options.store);
  }

  /** Stops listening for revoked tokens. */
  close(): void {
    this.tokens.close();
  }

  /**
   * Throws UNAUTHENTICATED, or RATE_LIMITED once an address has sent too many wrong tokens. A request without a token
   * may be accepted for `freshMs` after the first token was created.
   */
  async authenticate({ authorization, session }: Credentials, address: string, freshMs = 0): Promise<Caller> {
    // Looked up even for an address that guesses tokens: otherwise it could lock out others behind the same proxy.
    const caller = await this.find({ authorization, session });
    if (caller !== null) return caller;
    // A session cookie is ignored while no tokens are needed: it may come from a server that had this address before,
    // and the browser cannot get rid of it.
    if (authorization === undefined && !(await this.tokensNeeded(freshMs)))
      return {
        ...{ principal: LOCAL, key: `address ${address}` },
        ...{ token: null, expiresAt: null, bySession: false },
      };
    if (authorization === undefined && session === null)
      throw new DarumaError("UNAUTHENTICATED", "the request has no token");
    if (this.wrong.count(address) > 0)
      throw new DarumaError("RATE_LIMITED", "too many requests with a wrong token");
    if (authorization === undefined && session === COOKIE_TWICE)
      throw new DarumaError("UNAUTHENTICATED", "the session cookie came more than once", {
        hint: "Sign in again. If that does not help, clear the cookies of this host: another server there sets them.",
      });
    const what = authorization === undefined ? "session has ended" : "token is unknown, expired or revoked";
    throw new DarumaError("UNAUTHENTICATED", `the ${what}`);
  }

  /** Starts a session. Its id is returned only once, since only its hash is stored. */
  async beginSession({ token, expiresAt }: Caller): Promise<{ readonly id: string; readonly until: number }> {
    if (token === null) throw new DarumaError("UNAUTHENTICATED", "only a token can sign in");
    const at = this.options.now();
    const until = Math.min(at + SESSION_MS, expiresAt ?? Number.POSITIVE_INFINITY);
    const id = randomBytes(SESSION_ID_BYTES).toString("base64url");
    await this.options.store.putSession({ hash: hashOfToken(id), tokenId: token, at, expiresAt: until });
    return { id, until };
  }

  async endSession(id: string): Promise<void> {
    await this.options.store.endSession(hashOfToken(id));
    this.tokens.forget();
  }

  /** A revoked or expired token counts, too: the server must not become open when the last one ends. */
  private async tokensNeeded(freshMs: number): Promise<boolean> {
    return this.options.requireTokens || (await this.tokens.areThere(freshMs));
  }

  /**
   * Looks a token up by its SHA-256. Timing could then reveal something only about a hash, which a caller cannot
   * choose, so no constant-time comparison of tokens is needed.
   */
  private async find({ authorization, session }: Credentials): Promise<Caller | null> {
    const bySession = authorization === undefined;
    const given = bySession ? session : (TOKEN.exec(authorization)?.[1] ?? null);
    if (given === null) return null;
    const row = await this.tokens.find(hashOfToken(given), bySession ? "session" : "token");
    if (row === null || row.revoked_at !== null || !isRole(row.role)) return null;
    if (row.expires_at !== null && row.expires_at <= this.options.now()) return null;
    const principal = { name: row.name, role: row.role };
    return { principal, key: `token ${row.id}`, token: row.id, expiresAt: row.expires_at, bySession };
  }
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
