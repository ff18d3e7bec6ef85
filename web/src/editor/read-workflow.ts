import { api, dataOf, Problem } from "../api/client.js";

export interface Draft {
  readonly source: string;
  readonly revision: number;
  readonly updated_at: string;
}

export type Stored = Awaited<ReturnType<typeof readStored>>;

/** What the editor opens: a draft, versions, or neither for a new workflow. */
export interface Opened {
  readonly draft: Draft | null;
  readonly stored: Stored | null;
}

export async function readWorkflow(name: string, version: number | null): Promise<Opened> {
  const [draft, stored] = await Promise.all([orNull(readDraft(name)), orNull(readStored(name, version))]);
  return { draft, stored };
}

export function readDraft(name: string) {
  return dataOf(api.GET("/api/v1/workflows/{name}/draft", { params: { path: { name } } }));
}

function readStored(name: string, version: number | null) {
  const query = version === null ? {} : { version };
  return dataOf(api.GET("/api/v1/workflows/{name}", { params: { path: { name }, query } }));
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/** The initial text of a new workflow. */
export function firstText(name: string): string {
  const plain = /^[A-Za-z_][\w.-]*$/.test(name) ? name : JSON.stringify(name);
  return `name: ${plain}
steps:
  hello:
    exec: echo hello
`;
}
