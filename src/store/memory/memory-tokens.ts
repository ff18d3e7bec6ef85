import type { ChangeListeners } from "../change-listeners.js";
import { toStorableText } from "../storable-text.js";
import type { Store, TokenRow } from "../store.js";
import { tokenIsThere } from "../token-rules.js";
import type { OpenTables } from "./memory-tables.js";

type TokenVerb = "putToken" | "findToken" | "listTokens" | "revokeToken";

export function createTokenVerbs(open: OpenTables, listeners: ChangeListeners): Pick<Store, TokenVerb> {
  return {
    async putToken({ name, role, hash, at, expiresAt }) {
      const tables = open();
      const { tokens } = tables;
      if (tokens.some((token) => token.hash === hash)) throw tokenIsThere();
      tables.lastTokenId += 1;
      const known = { id: tables.lastTokenId, name: toStorableText(name), role, created_at: at };
      const token = { ...known, expires_at: expiresAt, revoked_at: null, hash };
      tokens.push(token);
      return withoutHash(token);
    },
    async findToken(hash) {
      const token = open().tokens.find((each) => each.hash === hash);
      return token === undefined ? null : withoutHash(token);
    },
    listTokens: async () => open().tokens.map(withoutHash),
    async revokeToken(id, at) {
      const { tokens } = open();
      const index = tokens.findIndex((each) => each.id === id);
      const token = tokens[index];
      if (token === undefined || token.revoked_at !== null) return false;
      tokens[index] = { ...token, revoked_at: at };
      listeners.tell("revoked", 0);
      return true;
    },
  };
}

function withoutHash({ hash: _, ...token }: TokenRow & { readonly hash: string }): TokenRow {
  return token;
}
