import { DarumaError } from "../core/errors/errors.js";
import type { Principal } from "../operations/context.js";
import { ROLES, type Role } from "../operations/roles.js";
import { hashOfToken } from "../operations/server/tokens.js";
import { MAX_WRONG_TOKENS_PER_MINUTE } from "./limits.js";
import { RateWindow } from "./rate-window.js";
import { RememberedTokens, type TokenStore } from "./remembered-tokens.js";

/** Who asks, and under what name the number of its requests is kept. */
export interface Caller {
  readonly principal: Principal;
  readonly key: string;
  /** The id of its token; null where there are none. */
  readonly token: number | null;
  /** When its token ends; null: never. */
  readonly expiresAt: number | null;
}

/** What a request says about who asks. */
export interface Credentials {
  readonly authorization: string | undefined;
  /** A browser adds cookies to what a person never asked for; so it must prove that the page asks. */
  readonly byCookie: boolean;
}

export interface AuthenticatorOptions {
  readonly store: TokenStore;
  readonly now: () => number;
  /** Even where no token exists. */
  readonly requireTokens: boolean;
}

const LOCAL: Principal = { name: "local", role: "admin" };
const TOKEN = /^Bearer +([A-Za-z0-9_-]{16,200})$/i;

/** Says who asks, by the token of the request. */
export class Authenticator {
  private readonly wrong: RateWindow;
  private readonly tokens: RememberedTokens;

  constructor(private readonly options: AuthenticatorOptions) {
    this.wrong = new RateWindow(MAX_WRONG_TOKENS_PER_MINUTE, options.now);
    this.tokens = new RememberedTokens(options.store);
  }

  /** Nothing is heard of revoked tokens any more. */
  close(): void {
    this.tokens.close();
  }

  /**
   * Throws UNAUTHENTICATED, or RATE_LIMITED once an address has guessed too often. A request without a token may be
   * let in for `freshMs` after the first token was made.
   */
  async authenticate(
    { authorization, byCookie }: Credentials,
    address: string,
    freshMs = 0,
  ): Promise<Caller> {
    // Looked up even for an address that guesses: else somebody behind the same proxy could lock others out.
    const caller = authorization === undefined ? null : await this.find(authorization);
    if (caller !== null) return caller;
    // A browser also sends the cookie of a server that stood at this address before, and nobody can give it another.
    if ((authorization === undefined || byCookie) && !(await this.tokensNeeded(freshMs)))
      return { principal: LOCAL, key: `address ${address}`, token: null, expiresAt: null };
    if (authorization === undefined) throw new DarumaError("UNAUTHENTICATED", "the request has no token");
    if (this.wrong.count(address) > 0)
      throw new DarumaError("RATE_LIMITED", "too many requests with a wrong token");
    throw new DarumaError("UNAUTHENTICATED", "the token is unknown, expired or revoked");
  }

  /** A token that was revoked or has expired counts too: the server must not fall open when the last one ends. */
  private async tokensNeeded(freshMs: number): Promise<boolean> {
    return this.options.requireTokens || (await this.tokens.areThere(freshMs));
  }

  /**
   * The look-up is by the token's SHA-256, so that what its timing could tell is about a hash that nobody can steer:
   * the comparison is constant in time as far as the token is concerned.
   */
  private async find(authorization: string): Promise<Caller | null> {
    const token = TOKEN.exec(authorization)?.[1];
    if (token === undefined) return null;
    const row = await this.tokens.find(hashOfToken(token));
    if (row === null || row.revoked_at !== null || !isRole(row.role)) return null;
    if (row.expires_at !== null && row.expires_at <= this.options.now()) return null;
    const principal = { name: row.name, role: row.role };
    return { principal, key: `token ${row.id}`, token: row.id, expiresAt: row.expires_at };
  }
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
