import { nameOf } from "../../../tell/lookup/job-name.js";
import { jobPlace } from "../../declare/job-words.js";
import type { Present } from "../../declare/presenter.js";
import type { GoOnFlags } from "../../go-on-here.js";
import { tellAndGoOn } from "../../tell-change.js";

interface AnswerFlags extends GoOnFlags {
  readonly choose: string;
  readonly text?: string;
  readonly scope?: string;
  readonly reason?: string;
  readonly key?: string;
  readonly dryRun?: boolean;
}

/** Answers a human step. */
export const answer: Present = async ({ args, flags }, session, client) => {
  const { choose, text, scope, reason, key, dryRun } = flags as unknown as AnswerFlags;
  const place = jobPlace(args[0] as string[], scope);
  const given = await client.call("answer_job", {
    ...place,
    choice: choose,
    text,
    reason,
    key,
    dry_run: dryRun,
  });
  return tellAndGoOn(
    session,
    client,
    { ...given, action: "answer" },
    `${nameOf(given.step, given.scope)} is answered: ${choose}`,
    flags,
  );
};
