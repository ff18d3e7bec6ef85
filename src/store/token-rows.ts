import { type Fields, id, nullable, type OfFields, text, time } from "../core/text/shape.js";

/** Who may ask a server. Part of the storage port, so its methods are asynchronous like the others. */
export interface CredentialStore {
  putToken(token: NewToken): Promise<TokenRow>;
  findToken(hash: string): Promise<TokenRow | null>;
  listTokens(): Promise<TokenRow[]>;
  /** False: there is none, or it is revoked already. */
  revokeToken(id: number, at: number): Promise<boolean>;
  /** A sign-in with a token, for a browser. */
  putSession(session: NewSession): Promise<void>;
  /** The token of the session, which ends with whichever of both ends first; null: there is no such session. */
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

/** Only the hash of a token is ever kept. */
export interface NewToken {
  readonly name: string;
  readonly role: string;
  readonly hash: string;
  readonly at: number;
  readonly expiresAt: number | null;
}

/** Only the hash of its id is ever kept. */
export interface NewSession {
  readonly hash: string;
  readonly tokenId: number;
  readonly at: number;
  readonly expiresAt: number;
}
