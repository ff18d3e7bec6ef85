import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

/** Prints only the token to stdout, so that a script can read it. It cannot be shown again. */
export const createToken: Present = async ({ input }, { out, err, options }, client) => {
  const made = await client.call("create_token", input as InputOf<"create_token">);
  if (options.json) writeJson(out, made);
  else {
    const until = made.expires_at === null ? "" : ` until ${made.expires_at}`;
    if (!options.quiet)
      writeLines(err, [`token ${made.id} of ${made.name}, ${made.role}${until}; it is shown only once:`]);
    writeLines(out, [made.token]);
  }
  return 0;
};

export const revokeToken: Present = async ({ input }, { out, options }, client) => {
  const { id, revoked } = await client.call("revoke_token", input as InputOf<"revoke_token">);
  if (options.json) writeJson(out, { id, revoked });
  else if (!options.quiet)
    writeLines(out, [revoked ? `token ${id} is revoked` : `token ${id} was already revoked`]);
  return 0;
};

export const whoami: Present = async (_given, { out, options }, client) => {
  const { name, role } = await client.call("whoami", {});
  if (options.json) writeJson(out, { name, role });
  else writeLines(out, [`you are ${oneLine(name)}, with the role ${role}`]);
  return 0;
};
