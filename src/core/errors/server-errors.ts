import type { CatalogueEntry } from "./catalogue-entry.js";

/** The part of the catalogue in `errors.ts` that is about servers. */
export const SERVER_ERRORS = {
  BODY_TOO_LARGE: { means: "The request's body is larger than the server takes.", next: "Send less." },
  FORBIDDEN: {
    means: "The token's role may not do this.",
    next: "Use a token of the role that the message names; `daruma token create` makes one.",
    asked: "Use a token of the role that the message names; an admin makes one with create_token.",
  },
  FOLDER_NEEDED: {
    means:
      "A workflow with `workflow` steps was given to a server as text, without the folder of their files.",
    next: "Start it with --folder DIR, a folder on the server's machine that contains those files.",
    asked: "Start it with `folder`, an absolute path on the server's machine that contains those files.",
  },
  HOST_REFUSED: {
    means: "The request names a host that is not this machine, as a web page of somebody else's would.",
    next: "Use http://127.0.0.1 or http://localhost, or make a token with `daruma token create`.",
    asked: "Use http://127.0.0.1 or http://localhost, or a server that has tokens.",
  },
  MALFORMED_REQUEST: {
    means: "The request cannot be read: its address, headers or body are broken.",
    next: "Fix what the message names.",
  },
  MEDIA_TYPE: {
    means: "The body is not of a type that the server takes.",
    next: "Send JSON with `content-type: application/json`.",
  },
  METHOD_NOT_ALLOWED: {
    means: "The address is there, but not for this method.",
    next: "Use a method that the `allow` header names.",
  },
  ORIGIN_REFUSED: {
    means: "A web page of another origin asked for a change.",
    next: "Start the server with --allow-origin if that page is yours.",
    asked: "Whoever runs the server can allow the origin of that page.",
  },
  RATE_LIMITED: {
    means: "Too many requests in too short a time.",
    next: "Wait as long as the `retry-after` header says.",
  },
  TOO_MANY_RUNS: {
    means: "The token has started as many runs as it may in a minute.",
    next: "Wait as long as the `retry-after` header says; `daruma serve --runs-per-minute` raises the limit.",
    asked: "Wait for as many seconds as the answer says, then start it again.",
  },
  TOO_MANY_STREAMS: {
    means: "The token, or the server as a whole, has as many event streams open as it may.",
    next: "Close some, or read with one request now and then; `daruma serve --streams-per-token` raises the limit.",
    asked: "Close some, or read with one request now and then.",
  },
  ROUTE_NOT_FOUND: {
    means: "The server has nothing at this address.",
    next: "See /api/v1/docs for what there is.",
  },
  TOOL_NOT_FOUND: {
    means: "The MCP server has no tool of this name for this role.",
    next: "Call a tool that the list of tools names; `daruma mcp --role ROLE`, or a token of a higher role, gives more of them.",
    asked: "Call a tool that the list of tools names; a token of a higher role gives more of them.",
  },
  SERVER_STOPPING: {
    means: "The server is going down, or not up yet.",
    next: "Ask again in a moment.",
  },
  TOKENS_NEEDED: {
    means: "The server would be open to other machines, and there is no token that can be used.",
    next: "Make one with `daruma token create`, or bind to 127.0.0.1.",
    asked: "Make one with create_token, or bind to 127.0.0.1.",
  },
  UNAUTHENTICATED: {
    means: "The request has no token, or one that is unknown, expired or revoked.",
    next: "Send `authorization: Bearer TOKEN`; `daruma token create` makes one.",
    asked: "Send `authorization: Bearer TOKEN`; an admin makes tokens with create_token.",
  },
  WORKFLOW_READER_BUSY: {
    means: "The server is reading as many large workflows as it can at a time.",
    next: "Ask again in a moment.",
  },
  WORKFLOW_TOO_LARGE: {
    means: "The workflow takes more time or memory to read than the server gives it.",
    next: "Split it, use `parameters` in place of many alike steps, or run it with `daruma run FILE`.",
    asked: "Split it, or use `parameters` in place of many alike steps.",
  },
} as const satisfies Record<string, CatalogueEntry>;
