import { workflowJsonSchema } from "../../definition/json-schema.js";
import type { Session } from "../channel.js";

export async function schema({ out }: Session): Promise<number> {
  out.write(`${JSON.stringify(workflowJsonSchema(), null, 2)}\n`);
  return 0;
}
