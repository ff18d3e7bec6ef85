import { MAX_WRAPPED_JSON_LEVELS } from "../core/text/json.js";

/** Limits for requests: their sizes and how often they may come. */
export const DEFAULT_PORT = 7420;
export const DEFAULT_HOST = "127.0.0.1";
/** The name that a client gives itself; the log keeps it beside the name of its token. */
export const AS_HEADER = "x-daruma-as";
/** Has the value `command-line` if Daruma's own command line asks. Hints then name commands. */
export const READER_HEADER = "x-daruma-reader";
export const API_PREFIX = "/api/v1";

export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** A workflow text takes about 5 s per megabyte to read and check on a busy machine, in a thread of its own. */
export const MAX_SOURCE_BODY_BYTES = 2 * 1024 * 1024;
/** Limit for a webhook request. */
export const MAX_HOOK_BODY_BYTES = 1024 * 1024;
/** Limit for an imported run with its whole log. */
export const MAX_IMPORT_BODY_BYTES = 64 * 1024 * 1024;
export const MAX_HEADER_BYTES = 16 * 1024;
export const MAX_PATH_PARAMETER_CHARS = 1_024;
/** Deeper than anything that people write, and far from where recursion runs out of stack. */
export const MAX_JSON_DEPTH = 200;
/** An output inside its message. Recursion ran out of stack at about 4,000. */
export const MAX_RESULT_DEPTH = MAX_WRAPPED_JSON_LEVELS;

/** Time limit to receive a whole request, including its body. */
export const REQUEST_TIMEOUT_MS = 120_000;
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Time limit for a client to take the answer to an invalid request. */
export const LAST_WORDS_MS = 5_000;
/** Each connection is a file descriptor. Processes of steps and the store need some too. */
export const DEFAULT_MAX_CONNECTIONS = 4_000;

export const DEFAULT_REQUESTS_PER_MINUTE = 6_000;
/** Limit for runs that one token starts, forks or imports. */
export const DEFAULT_RUNS_PER_MINUTE = 1_000;
/** Limit for requests with a wrong token from one address. */
export const MAX_WRONG_TOKENS_PER_MINUTE = 60;
/** How long a token counts without another look-up, and how long one revoked elsewhere may still count. */
export const TOKEN_FRESH_MS = 30_000;
/** Longest duration of a session of the page. */
export const SESSION_MS = 12 * 60 * 60_000;
/**
 * How long a session counts without another look-up, and how often the reader of a stream is checked. An ended session
 * stops working within the sum of both.
 */
export const SESSION_FRESH_MS = 2_000;
/**
 * How long after the first token was created workers without one are still accepted. Otherwise each of their requests
 * would ask the store.
 */
export const OPEN_DOOR_FRESH_MS = 1_000;
/**
 * How long a known token counts while the store fails, so that workers do not lose their attempts to a database
 * restart.
 */
export const TOKEN_STALE_MS = 5 * 60_000;
/** If a look-up takes longer, the known value is used meanwhile. */
export const TOKEN_LOOK_UP_MS = 1_000;
export const MAX_REMEMBERED_TOKENS = 10_000;

/** How long the answer's head may wait for a stream's first item. */
export const FIRST_ITEM_MS = 500;
export const HEARTBEAT_MS = 15_000;
/** A stream's reader that has read nothing for this long counts as gone. */
export const STALLED_READER_MS = 120_000;
export const MAX_STREAMS = 2_000;
export const DEFAULT_STREAMS_PER_TOKEN = 200;
/** How many bytes are prepared for one reader before it has read the earlier ones. */
export const STREAM_BUFFER_BYTES = 64 * 1024;
/** How long a browser waits before it reconnects to a stream. */
export const STREAM_RETRY_MS = 2_000;
