/** What undici calls by its own names, by the names that everyone knows. */
const ERRNO_OF_UNDICI: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "ECONNRESET",
  UND_ERR_CONNECT_TIMEOUT: "ETIMEDOUT",
  UND_ERR_HEADERS_TIMEOUT: "ETIMEDOUT",
  UND_ERR_BODY_TIMEOUT: "ETIMEDOUT",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "ECONNRESET",
};

/** The system's name for what went wrong with a connection, by the code that the error carries. */
export function errnoOf(code: string | undefined): string | undefined {
  return ERRNO_OF_UNDICI[code ?? ""] ?? code;
}
