/** What one request may take, and how often. */
export const DEFAULT_PORT = 7420;
export const DEFAULT_HOST = "127.0.0.1";
export const API_PREFIX = "/api/v1";

export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** A workflow text is read and checked while everything else waits: about 5 s for 1 MB of small steps, 40,000 of them. */
export const MAX_SOURCE_BODY_BYTES = 2 * 1024 * 1024;
/** A whole run with its log. */
export const MAX_IMPORT_BODY_BYTES = 64 * 1024 * 1024;
export const MAX_HEADER_BYTES = 16 * 1024;
export const MAX_PATH_PARAMETER_CHARS = 1_024;
/** Deeper than anything that people write; far from where recursion over it would run out of stack. */
export const MAX_JSON_DEPTH = 200;

/** To receive a whole request, its body included. */
export const REQUEST_TIMEOUT_MS = 120_000;
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;

export const DEFAULT_REQUESTS_PER_MINUTE = 6_000;
/** Requests with a wrong token, from one address. */
export const MAX_WRONG_TOKENS_PER_MINUTE = 60;

/** How long a stream's first item may keep the answer's head back. */
export const FIRST_ITEM_MS = 500;
export const HEARTBEAT_MS = 15_000;
/** A reader of a stream that has taken nothing for so long is gone. */
export const STALLED_READER_MS = 120_000;
export const MAX_STREAMS = 2_000;
/** What is made ready for one reader ahead of what it has taken. */
export const STREAM_BUFFER_BYTES = 64 * 1024;
/** How long a browser waits before it asks for a stream again. */
export const STREAM_RETRY_MS = 2_000;
