import { MAX_WRAPPED_JSON_LEVELS } from "../core/text/to-json.js";

/** What one request may take, and how often. */
export const DEFAULT_PORT = 7420;
export const DEFAULT_HOST = "127.0.0.1";
/** Says `command-line` where the one who asks is Daruma's own: hints speak of commands then. */
/** The name that a client gives itself; the log keeps it beside the name of its token. */
export const AS_HEADER = "x-daruma-as";
export const READER_HEADER = "x-daruma-reader";
export const API_PREFIX = "/api/v1";

export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** A workflow text takes about 5 s a megabyte to be read and checked on a busy machine, in a thread of its own. */
export const MAX_SOURCE_BODY_BYTES = 2 * 1024 * 1024;
/** A request of another system that starts a run. */
export const MAX_HOOK_BODY_BYTES = 1024 * 1024;
/** A whole run with its log. */
export const MAX_IMPORT_BODY_BYTES = 64 * 1024 * 1024;
export const MAX_HEADER_BYTES = 16 * 1024;
export const MAX_PATH_PARAMETER_CHARS = 1_024;
/** Deeper than anything that people write; far from where recursion over it would run out of stack. */
export const MAX_JSON_DEPTH = 200;
/** An output, and the message that it comes in. Recursion ran out of stack at about 4,000. */
export const MAX_RESULT_DEPTH = MAX_WRAPPED_JSON_LEVELS;

/** To receive a whole request, its body included. */
export const REQUEST_TIMEOUT_MS = 120_000;
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** To take the answer to what was no request. */
export const LAST_WORDS_MS = 5_000;
/** Each is a file descriptor; processes of steps and the store need some too. */
export const DEFAULT_MAX_CONNECTIONS = 4_000;

export const DEFAULT_REQUESTS_PER_MINUTE = 6_000;
/** Runs that one token starts, forks or imports. */
export const DEFAULT_RUNS_PER_MINUTE = 1_000;
/** Requests with a wrong token, from one address. */
export const MAX_WRONG_TOKENS_PER_MINUTE = 60;
/** So long a token counts without being looked up, and one that was revoked elsewhere may still count. */
export const TOKEN_FRESH_MS = 30_000;
/** How long a sign-in to the page lasts, at most. */
export const SESSION_MS = 12 * 60 * 60_000;
/** So long a session counts without being looked up, and so often the reader of a stream is: one ends within both together. */
export const SESSION_FRESH_MS = 2_000;
/** So long after the first token was made workers without one may still come in: they would else ask the store each time. */
export const OPEN_DOOR_FRESH_MS = 1_000;
/** So long it counts while the store cannot say: workers must not lose their attempts to a database that restarts. */
export const TOKEN_STALE_MS = 5 * 60_000;
/** A look-up that takes longer is answered from memory meanwhile. */
export const TOKEN_LOOK_UP_MS = 1_000;
export const MAX_REMEMBERED_TOKENS = 10_000;

/** How long a stream's first item may keep the answer's head back. */
export const FIRST_ITEM_MS = 500;
export const HEARTBEAT_MS = 15_000;
/** A reader of a stream that has taken nothing for so long is gone. */
export const STALLED_READER_MS = 120_000;
export const MAX_STREAMS = 2_000;
export const DEFAULT_STREAMS_PER_TOKEN = 200;
/** Bytes that are prepared for one reader before it has taken the earlier ones. */
export const STREAM_BUFFER_BYTES = 64 * 1024;
/** How long a browser waits before it asks for a stream again. */
export const STREAM_RETRY_MS = 2_000;
