import { breakers } from "../fields/breaker-fields.js";
import { placedNotify, toRules } from "../fields/notify-fields.js";
import { jsonDocument } from "../read/object-json.js";
import { ROOT } from "../read/path.js";
import type { Findings } from "../read/problem.js";
import { type Fields, mapOf, object, type ReadContext } from "../read/schema.js";
import { readText, type TextRead } from "../read/source-document.js";
import { channels, checkChannels, toChannels } from "./channel-fields.js";
import { clusterProfile } from "./cluster-fields.js";
import { NO_RETENTION } from "./retention.js";
import { limits, retention } from "./server-fields.js";
import type { Settings } from "./settings.js";

const CLUSTER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/;

const settings = object({
  clusters: {
    schema: mapOf(clusterProfile, {
      keyPattern: CLUSTER_NAME,
      keyRule: "A name begins with a letter and has at most 40 letters, digits, - and _.",
    }),
    doc: "Batch systems on which the server may run steps, by name.",
  },
  breakers: { schema: breakers, doc: "Breakers that steps of all workflows may use, by name." },
  limits: { schema: limits, doc: "What a server takes." },
  retention: {
    schema: retention,
    doc: "How long runs that are over, their logs and their artifacts are kept.",
  },
  channels: { schema: channels, doc: "Ways to reach people, by name." },
  notify: { schema: placedNotify, doc: "Who is told of what, in all workflows." },
} as const satisfies Fields);

/** Checks for the expressions of `notify`. */
export type ExpressionChecks = Pick<ReadContext, "checkExpression" | "findNames">;

/** Reads the text of a settings file. Returns the settings, or all problems in it at once. */
export function loadSettings(
  source: string,
  file: string,
  checks: ExpressionChecks = { checkExpression: () => null, findNames: null },
): TextRead<Settings> {
  return readText(source, file, (root, findings): Settings | null => {
    const context = contextOf(findings, checks);
    const keys = settings.read(root, ROOT, context);
    if (keys === undefined) return null;
    const clusters = [...(keys.clusters ?? [])].map(([name, profile]) => ({
      ...profile,
      name,
      tags: profile.tags.length === 0 ? [name] : profile.tags,
    }));
    const known = toChannels(keys.channels);
    const rules = keys.notify ?? [];
    // Skipped after errors: a broken channel has already been reported.
    if (findings.errors.length === 0) checkChannels(rules, known, context);
    return {
      clusters,
      breakers: keys.breakers ?? [],
      limits: keys.limits ?? {},
      retention: keys.retention ?? NO_RETENTION,
      channels: known,
      notify: toRules(rules),
    };
  });
}

export function settingsJsonSchema(): object {
  return jsonDocument("Daruma settings", settings);
}

/** A context for reading settings, which contain no templates. */
function contextOf(findings: Findings, checks: ExpressionChecks): ReadContext {
  return {
    ...checks,
    findings,
    checkTemplate: () => null,
    compilePattern: () => ({ message: "there are none in settings" }),
    customActions: new Set(),
    sharedBreakers: [],
    texts: [],
  };
}
