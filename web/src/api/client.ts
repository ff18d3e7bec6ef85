import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type ServerProblem = components["schemas"]["Problem"];

/** What the server refused, in its own words. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly hint: string | null;
  readonly reference: string | null;
  /** Fields of the request that were refused: `inputs.count`. */
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

/** Every change carries it: no page of another origin can send it, and the session cookie does not count without it. */
const PAGE_HEADERS = { "x-daruma-page": "1" };

export const api = createClient<paths>({ baseUrl: location.origin, headers: PAGE_HEADERS });

interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer; what was refused is thrown as a `Problem`. */
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
