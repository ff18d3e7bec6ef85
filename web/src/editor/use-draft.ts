import { useEffect, useState } from "react";
import { api, dataOf, Problem } from "../api/client.js";
import { guardPlace } from "../use-place.js";
import { type Draft, readDraft } from "./read-workflow.js";

/** A conflict: somebody else has saved since. Null if the draft was deleted. */
interface Clash {
  readonly theirs: Draft | null;
}

export interface DraftState {
  readonly revision: number;
  readonly savedAt: string | null;
  /** The text as last saved; null if it never was. */
  readonly saved: string | null;
  readonly busy: boolean;
  readonly problem: Problem | null;
  readonly clash: Clash | null;
  /** A message about what has just been done. */
  readonly done: string | null;
}

/** Saves and publishes a draft. Never overwrites what somebody else has saved. */
export function useDraft(name: string, first: Draft | null) {
  const [state, setState] = useState<DraftState>({
    revision: first?.revision ?? 0,
    savedAt: first?.updated_at ?? null,
    saved: first?.source ?? null,
    busy: false,
    problem: null,
    clash: null,
    done: null,
  });
  const change = (more: Partial<DraftState>): void => setState((old) => ({ ...old, ...more }));
  const path = { params: { path: { name } } };

  const doing = async (work: () => Promise<Partial<DraftState>>): Promise<boolean> => {
    change({ busy: true, problem: null, done: null });
    try {
      change({ ...(await work()), busy: false });
      return true;
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem({ status: 0, title: String(error) });
      if (problem.code === "DRAFT_CONFLICT") change({ busy: false, clash: { theirs: await theirsOf(name) } });
      else change({ busy: false, problem });
      return false;
    }
  };

  return {
    state,
    save: (source: string, basedOn = state.revision) =>
      doing(async () => {
        const body = { source, based_on: basedOn };
        const { revision, updated_at } = await dataOf(
          api.PUT("/api/v1/workflows/{name}/draft", { ...path, body }),
        );
        return {
          revision,
          savedAt: updated_at,
          saved: source,
          clash: null,
          done: `saved as revision ${revision}`,
        };
      }),
    publish: () =>
      doing(async () => {
        const body = { revision: state.revision };
        const { version } = await dataOf(api.POST("/api/v1/workflows/{name}/publish", { ...path, body }));
        return { done: `version ${version} is published` };
      }),
    discard: () =>
      doing(async () => {
        await dataOf(api.DELETE("/api/v1/workflows/{name}/draft", path));
        return {};
      }),
    /** Continues from their draft, whose text has been put into the editor. */
    take: ({ revision, updated_at, source }: Draft) =>
      change({ revision, savedAt: updated_at, saved: source, clash: null }),
    closeClash: () => change({ clash: null }),
  };
}

async function theirsOf(name: string): Promise<Draft | null> {
  try {
    return await readDraft(name);
  } catch {
    return null;
  }
}

/** Asks for confirmation before leaving unsaved changes. */
export function useLeaving(isDirty: boolean) {
  const [wanted, setWanted] = useState<string | null>(null);
  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", warn);
    const release = guardPlace((address) => {
      setWanted(address);
      return false;
    });
    return () => {
      removeEventListener("beforeunload", warn);
      release();
    };
  }, [isDirty]);
  return {
    wanted,
    stay: () => setWanted(null),
    leave: () => {
      guardPlace(() => true)();
      location.hash = wanted ?? "";
    },
  };
}
