import type { Present } from "../../declare/presenter.js";

export const schema: Present = async (_given, { out }, client) => {
  out.write(`${JSON.stringify(await client.call("get_workflow_schema", {}), null, 2)}\n`);
  return 0;
};
