import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type ServerProblem = components["schemas"]["Problem"];

/** A refusal, with the server's own message. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly hint: string | null;
  readonly reference: string | null;
  /** The refused fields of the request: `inputs.count`. */
  readonly errors: readonly { readonly path: string; readonly message: string }[];

  constructor(told: Partial<ServerProblem> & { readonly status: number }) {
    super(told.detail ?? told.title ?? `the server answered ${told.status}`);
    this.status = told.status;
    this.code = told.code ?? "UNREACHABLE";
    this.title = told.title ?? this.message;
    this.hint = told.hint ?? null;
    this.errors = (told.errors ?? []).map(({ path = "", message = "" }) => ({ path, message }));
    this.reference = typeof told.reference === "string" ? told.reference : null;
  }
}

/**
 * Headers of every change. No page of another origin can send them, and without them the session cookie does not count.
 */
const PAGE_HEADERS = { "x-daruma-page": "1" };

export const api = createClient<paths>({ baseUrl: location.origin, headers: PAGE_HEADERS });

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** Returns the data of an answer. Throws a refusal as a `Problem`. */
export async function dataOf<Data>(asked: Promise<Answer<Data>>): Promise<Data> {
  let answer: Answer<Data>;
  try {
    answer = await asked;
  } catch {
    throw new Problem({ status: 0, title: "The server does not answer." });
  }
  if (answer.response.ok) return answer.data as Data;
  throw new Problem({ ...(answer.error as Partial<ServerProblem>), status: answer.response.status });
}

export async function signIn(token: string): Promise<void> {
  await change("POST", JSON.stringify({ token }));
}

export async function signOut(): Promise<void> {
  await change("DELETE");
}

async function change(method: "POST" | "DELETE", body?: string): Promise<void> {
  const response = await fetch("/session", {
    method,
    headers: { ...PAGE_HEADERS, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body }),
  });
  if (!response.ok) throw new Problem({ ...((await response.json()) as object), status: response.status });
}
