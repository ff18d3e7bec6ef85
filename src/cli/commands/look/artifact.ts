import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson } from "../../terminal/channel.js";
import { writeBytes } from "../../terminal/write-bytes.js";

/** Prints an artifact byte for byte; with --json its first piece as text. */
export const artifact: Present = async ({ input }, { out, options }, client) => {
  const wanted = input as InputOf<"get_artifact">;
  if (options.json) {
    writeJson(out, await client.call("get_artifact", wanted));
    return 0;
  }
  for (let offset = 0; ; ) {
    const piece = await client.call("get_artifact", { ...wanted, offset, encoding: "base64" });
    await writeBytes(Buffer.from(piece.text, "base64"));
    offset = piece.next_offset;
    if (offset >= piece.size) return 0;
  }
};
