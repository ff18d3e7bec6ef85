import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { DarumaError, ERROR_CATALOGUE, type ErrorCode } from "../../core/errors/errors.js";
import type { RunCause } from "../../core/model/events.js";
import { inCause, type WebhookDefinition } from "../../core/schedule/triggers.js";
import type { Json } from "../../core/text/json.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { SecretPlace } from "../../core/text/secret-place.js";
import type { Rendered } from "../../run/sandbox/render-step.js";
import type { Sandbox, SandboxResult } from "../../run/sandbox/sandbox.js";
import type { Store } from "../../store/store.js";
import { type Environment, type FoundSecret, findSecret } from "../../tell/channels/find-secret.js";
import type { Runner } from "../context.js";
import { findRunOf } from "../runs/run-cause.js";
import { refuseChildrenWithoutFolder } from "../runs/started-run.js";
import { scheduleRows } from "../schedules/schedule-rows.js";
import { refuseVisibleSecrets } from "../workflows/check-secrets.js";
import { publishedAsWorkflow } from "../workflows/choose-workflow.js";

/** A signed request may be so old, or so far ahead of this machine's clock. */
const TOLERANCE_MS = 5 * 60_000;
const MAX_SIGNATURES = 20;
/** The parts of what is signed are set apart by dots. */
const MESSAGE_ID = /^[!-\-/-~]{1,200}$/;
const TIMESTAMP = /^\d{1,12}$/;
const KEY = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

type WebhookForm = WebhookDefinition["form"];
export type Headers = { readonly [name: string]: string | string[] | undefined };

interface SignedRequest {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly now: number;
}

/** Takes as long as any other to find out that it fits nothing. */
const NO_SECRET = randomBytes(32).toString("hex");

/**
 * What makes the request the one it is, if it is signed with the secret: its id, or the hash of its body where no id is
 * signed. Null: it is not. Without a secret the same work is done, so that nobody learns from the time whether there is one.
 */
export function signedId(
  form: WebhookForm | null,
  secret: string | null,
  request: SignedRequest,
): string | null {
  const by = form ?? (request.headers["x-hub-signature-256"] === undefined ? "standard" : "github");
  const id = (by === "github" ? githubId : standardId)(secret ?? NO_SECRET, request);
  return secret === null ? null : id;
}

/** https://www.standardwebhooks.com: several signatures while a secret is being replaced. */
function standardId(secret: string, { headers, bytes, now }: SignedRequest): string | null {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  const [, encoded] = KEY.exec(secret) ?? [];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(bytes).digest();
  const given = String(signatures ?? "")
    .split(" ", MAX_SIGNATURES)
    .flatMap((each) => (each.startsWith("v1,") ? [Buffer.from(each.slice("v1,".length), "base64")] : []));
  // All of them, whichever fits.
  const fits = given.map((signature) => isSame(signature, expected)).includes(true);
  // `whsec_` and a letter is no key: anybody could sign with it.
  if (key.length === 0) return null;
  if (typeof id !== "string" || !MESSAGE_ID.test(id)) return null;
  if (typeof timestamp !== "string" || !TIMESTAMP.test(timestamp)) return null;
  return fits && Math.abs(now - Number(timestamp) * 1_000) <= TOLERANCE_MS ? id : null;
}

/** Its `X-GitHub-Delivery` is not signed. */
function githubId(secret: string, { headers, bytes }: SignedRequest): string | null {
  const expected = createHmac("sha256", secret).update(bytes).digest();
  const [, hex = ""] = /^sha256=([0-9a-f]{64})$/.exec(String(headers["x-hub-signature-256"] ?? "")) ?? [];
  return isSame(Buffer.from(hex, "hex"), expected) ? createHash("sha256").update(bytes).digest("hex") : null;
}

function isSame(given: Uint8Array, expected: Uint8Array): boolean {
  const isWhole = given.length === expected.length;
  return timingSafeEqual(isWhole ? given : new Uint8Array(expected.length), expected) && isWhole;
}

/** Reading a file takes time that would tell that there is one; and a secret may be replaced while the server runs. */
const FRESH_MS = 10_000;

/** Secrets of webhooks, read when they are needed. */
export class WebhookSecrets {
  private readonly files = new Map<string, { readonly found: FoundSecret; readonly readAt: number }>();

  constructor(
    private readonly env: Environment,
    private readonly elapsed: () => number,
  ) {}

  find(place: SecretPlace): FoundSecret {
    if ("variable" in place) return findSecret(place, this.env);
    const known = this.files.get(place.file);
    const now = this.elapsed();
    if (known !== undefined && now - known.readAt < FRESH_MS) return known.found;
    const found = findSecret(place, this.env);
    this.files.set(place.file, { found, readAt: now });
    return found;
  }
}

/** Names that no workflow has are not looked for. */
const WORKFLOW_NAME = /^[^\p{Cc}]{1,200}$/u;

interface WebhookRequest {
  readonly workflow: string;
  readonly headers: Headers;
  /** The bytes as received, because the signature covers them. */
  readonly bytes: Uint8Array;
  /** Parses the bytes. Called once the sender is verified. */
  readonly parse: () => unknown;
}

interface WebhookAnswer {
  /** Null if the request does not start a run. */
  readonly run_id: number | null;
  /** It came before, and this is the run it started then. */
  readonly again: boolean;
}

interface WebhookDeskOptions {
  readonly store: Store;
  readonly sandbox: Pick<Sandbox, "evaluate" | "render">;
  readonly secrets: WebhookSecrets;
  readonly now: () => number;
  readonly start: Runner["start"];
  /** Throws TOO_MANY_RUNS. */
  readonly admitRun: (name: string) => void;
  /** Called with a sentence for the log. */
  readonly tell: (text: string) => void;
}

/** Starts runs for signed requests. The signature takes the place of a token; of the request only inputs are kept. */
export class WebhookDesk {
  private readonly told = new Set<string>();
  /** Runs being started, by the mark of their cause. */
  private readonly starting = new Map<string, Promise<WebhookAnswer>>();

  constructor(private readonly options: WebhookDeskOptions) {}

  /** Throws UNAUTHENTICATED, in the same words, for a wrong signature and for a workflow that takes no requests. */
  async receive(request: WebhookRequest): Promise<WebhookAnswer> {
    const { store, now } = this.options;
    const { workflow: name, headers, bytes } = request;
    const hook = await this.hookOf(name);
    const secret = hook === null ? null : this.secretOf(name, hook);
    const id = signedId(hook?.form ?? null, secret, { headers, bytes, now: now() });
    if (id === null) throw refused();
    const cause = { mark: `webhook/${inCause(name)}/${id}`, request: null };
    const first = await findRunOf(store, cause);
    if (first !== null) return { run_id: first, again: true };
    const underWay = this.starting.get(cause.mark);
    if (underWay === undefined) return this.startOnce(name, request, cause);
    // A concurrent equal request gets the first one's run, or its own answer if the first was refused.
    const answer = await underWay.catch(() => null);
    return answer === null ? this.receive(request) : { ...answer, again: answer.run_id !== null };
  }

  private async startOnce(name: string, request: WebhookRequest, cause: RunCause): Promise<WebhookAnswer> {
    const starting = this.startFor(name, request, cause);
    this.starting.set(cause.mark, starting);
    return starting.finally(() => this.starting.delete(cause.mark));
  }

  private async startFor(name: string, request: WebhookRequest, cause: RunCause): Promise<WebhookAnswer> {
    const workflow = await publishedAsWorkflow(this.options.store, name);
    const { webhook } = workflow.definition;
    if (webhook === undefined) throw refused();
    const variables = { body: request.parse() as Json, event: eventOf(request.headers) };
    if (!(await this.isWanted(webhook, variables))) return { run_id: null, again: false };
    const inputs = await this.inputsOf(webhook, variables);
    refuseVisibleSecrets({ inputs });
    refuseChildrenWithoutFolder(workflow.definition, workflow.folder);
    this.options.admitRun(name);
    return { run_id: await this.options.start(workflow, { inputs, cause }), again: false };
  }

  /** One row by its key, whether it is there or not. */
  private async hookOf(name: string): Promise<WebhookDefinition | null> {
    const asked = WORKFLOW_NAME.test(name) ? name : "";
    const rows = scheduleRows(this.options.store, this.options);
    await rows.read([asked]);
    return rows.get(asked)?.webhook ?? null;
  }

  /** The secret; null if it is missing. The operator is informed once, the sender never. */
  private secretOf(name: string, { secret }: WebhookDefinition): string | null {
    const found = this.options.secrets.find(secret);
    if ("value" in found) return found.value;
    if (!this.told.has(name)) {
      this.told.add(name);
      this.options.tell(`the webhook of ${oneLine(name)} refuses every request: ${found.problem}`);
    }
    return null;
  }

  private async isWanted({ when }: WebhookDefinition, variables: { readonly [name: string]: Json }) {
    if (when === null) return true;
    const asked = { code: when, variables, now: this.options.now(), expects: "boolean" } as const;
    return readResult("when", await this.options.sandbox.evaluate(asked)) === true;
  }

  private async inputsOf(
    { inputs }: WebhookDefinition,
    variables: { readonly [name: string]: Json },
  ): Promise<{ readonly [name: string]: Json }> {
    const rendering = { variables, env: {}, trees: [{ json: inputs, as: "value" as const }] };
    const rendered = readResult("inputs", await this.options.sandbox.render(rendering));
    return (rendered as unknown as Rendered).trees[0] as { readonly [name: string]: Json };
  }
}

function eventOf(headers: Headers): string | null {
  const event = headers["x-github-event"];
  return typeof event === "string" ? event : null;
}

function readResult(key: string, result: SandboxResult): Json {
  if (result.ok) return result.value;
  const code = Object.hasOwn(ERROR_CATALOGUE, result.code) ? (result.code as ErrorCode) : "INVALID_INPUT";
  throw new DarumaError(code, `${key} of the webhook: ${oneLine(result.reason)}`);
}

function refused(): DarumaError {
  return new DarumaError("UNAUTHENTICATED", "the signature is wrong, or nothing takes requests here", {
    hint: "Check the address, the secret on both sides, the form of the signature, and the clock of the sender.",
  });
}
