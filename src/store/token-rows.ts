import { type Fields, id, nullable, type OfFields, text, time } from "../core/text/shape.js";

/** Tokens and sessions. Part of the storage port, so the methods are asynchronous like the others. */
export interface CredentialStore {
  putToken(token: NewToken): Promise<TokenRow>;
  findToken(hash: string): Promise<TokenRow | null>;
  listTokens(): Promise<TokenRow[]>;
  /** Revokes a token. Returns false if it does not exist or is already revoked. */
  revokeToken(id: number, at: number): Promise<boolean>;
  /** Stores a browser's session, which belongs to a token. */
  putSession(session: NewSession): Promise<void>;
  /**
   * The token of a session. It ends with the session or the token, whichever is first. Null if the session does not
   * exist.
   */
  findSession(hash: string): Promise<TokenRow | null>;
  endSession(hash: string): Promise<void>;
}

export const TOKEN_ROW = {
  id,
  name: text,
  role: text,
  created_at: time,
  expires_at: nullable(time),
  revoked_at: nullable(time),
} as const satisfies Fields;
export type TokenRow = OfFields<typeof TOKEN_ROW>;

/** Only the hash of a token is ever stored. */
export interface NewToken {
  readonly name: string;
  readonly role: string;
  readonly hash: string;
  readonly at: number;
  readonly expiresAt: number | null;
}

/** Only the hash of its id is ever stored. */
export interface NewSession {
  readonly hash: string;
  readonly tokenId: number;
  readonly at: number;
  readonly expiresAt: number;
}
