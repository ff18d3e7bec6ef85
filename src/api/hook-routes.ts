import type { FastifyPluginAsync } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import type { WebhookDesk } from "../operations/triggers/webhook-desk.js";
import { parseBody } from "./json-bodies.js";
import { MAX_HOOK_BODY_BYTES, MAX_WRONG_TOKENS_PER_MINUTE } from "./limits.js";
import { RateWindow } from "./rate-window.js";

/** Receives webhooks. The route only passes bytes on; the desk decides who may start what. */
export function hookRoutes(desk: WebhookDesk, now: () => number): FastifyPluginAsync {
  const wrong = new RateWindow(MAX_WRONG_TOKENS_PER_MINUTE, now);
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, async (_: unknown, body: Buffer) => body);
    app.post<{ Params: { workflow: string } }>(
      "/hooks/:workflow",
      { bodyLimit: MAX_HOOK_BODY_BYTES },
      async (request, reply) => {
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const { workflow } = request.params;
        const parse = (): unknown => parseBody(bytes.toString("utf8")) ?? null;
        const answer = await desk
          .receive({ workflow, headers: request.headers, bytes, parse })
          .catch((error: unknown) => {
            if (
              error instanceof DarumaError &&
              error.code === "UNAUTHENTICATED" &&
              wrong.count(request.ip) > 0
            )
              throw new DarumaError("RATE_LIMITED", "too many requests with a wrong signature");
            throw error;
          });
        const { run_id, again } = answer;
        return reply
          .code(run_id === null ? 202 : again ? 200 : 201)
          .header("cache-control", "no-store")
          .send({ run_id });
      },
    );
  };
}

export const HOOK_DOCUMENT = {
  "/hooks/{workflow}": {
    post: {
      operationId: "hook",
      tags: ["hooks"],
      summary: "start a run of a published workflow by a signed request",
      description:
        "For workflows with `triggers: { webhook: ... }`. The signature takes the place of a token. A request that came before is answered with the run it started.",
      security: [],
      parameters: [{ name: "workflow", in: "path", required: true, schema: { type: "string" } }],
      requestBody: { content: { "application/json": { schema: {} } } },
      responses: {
        "200": { description: "It came before; `run_id` is the run that it started." },
        "201": { description: "`run_id` is the run that it has started." },
        "202": { description: "`when` is false; `run_id` is null." },
      },
    },
  },
};
