import type { Client } from "../../operations/client.js";
import type { GlobalOptions } from "../terminal/channel.js";
import { readVersion } from "../version.js";

/** Opens what executes operations for the command line: a server, or this process. */
export async function openClient(
  options: GlobalOptions,
  reader: "command-line" | "program" = "command-line",
  as?: string,
): Promise<Client> {
  const { outputDir, store, server, token, config, noConfig } = options;
  if (server !== undefined)
    return (await import("./remote-client.js")).openRemoteClient({ server, token, reader, as });
  return (await import("../../host/local-client.js")).openLocalClient({
    ...{ outputDir, store, config, noConfig, version: readVersion() },
  });
}
