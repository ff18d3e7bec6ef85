import { resolve } from "node:path";
import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { resourceLines } from "../../render/resource-lines.js";
import { resourcePage } from "../../resource-page/resource-page.js";
import { writeJson, writeLines } from "../../terminal/channel.js";
import { writeNamedFile } from "../../terminal/write-named-file.js";

/** As many attempts with their samples as somebody may want to scroll through. */
const SERIES_ON_PAGE = 24;

export const resources: Present = async ({ input, flags }, { out, options }, client) => {
  const given = input as InputOf<"get_resources">;
  const { html } = flags as { readonly html?: string };
  const more = html === undefined ? {} : { series: SERIES_ON_PAGE };
  const found = await client.call("get_resources", { ...given, ...more });
  if (html !== undefined) writeNamedFile(html, resourcePage(found));
  if (options.json) writeJson(out, found);
  else if (html !== undefined) writeLines(out, [`wrote ${resolve(html)}`]);
  else writeLines(out, resourceLines(found, out.width(), out.paint));
  return 0;
};
