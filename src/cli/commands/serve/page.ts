import { spawn } from "node:child_process";
import { DarumaError } from "../../../core/errors/errors.js";
import { openClient } from "../../remote/open-client.js";
import { checkedAddress } from "../../remote/runs-location.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";

/** Opens the page of a server, or of one of its runs, in the browser. Without a browser it prints the address. */
export async function page(
  run: string | undefined,
  step: string | undefined,
  session: Session,
): Promise<number> {
  const { out, options } = session;
  const [server] = (options.server ?? "").split(",");
  if (server === undefined || server === "")
    throw new DarumaError("USAGE", "page needs a server", {
      hint: "Add --server URL, or set DARUMA_SERVER. `daruma serve --open` starts one and opens its page.",
    });
  // The address is checked, since any other text could be a file or a flag for the browser.
  const url = `${checkedAddress(server)}/${await placeOf(run, step, session)}`;
  const opened = await openInBrowser(url);
  if (options.json) writeJson(out, { url, opened });
  else writeLines(out, [url]);
  return EXIT.completed;
}

async function placeOf(
  run: string | undefined,
  step: string | undefined,
  { options }: Session,
): Promise<string> {
  if (run === undefined) return "";
  const number = run === "last" ? await newestRun(options) : Number(run);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new DarumaError("USAGE", `${run} is not the number of a run`, {
      hint: "Give its number, or last.",
    });
  return `#/runs/${number}${step === undefined ? "" : `/${encodeURIComponent(step)}`}`;
}

async function newestRun(options: Session["options"]): Promise<number> {
  const client = await openClient(options);
  try {
    const { run_id } = await client.call("get_run", { run_id: "last", jobs: "none" });
    return run_id;
  } finally {
    await client.close();
  }
}

type Environment = { readonly [name: string]: string | undefined };

/** The command that opens an address here. Null if nobody sits in front of this machine. */
export function browserCommand(env: Environment, platform: NodeJS.Platform): string | null {
  if (env.BROWSER) return env.BROWSER;
  if (platform === "darwin") return "open";
  return env.DISPLAY || env.WAYLAND_DISPLAY ? "xdg-open" : null;
}

/** Opens the address and returns whether a browser was started. The command never goes through a shell. */
export async function openInBrowser(address: string): Promise<boolean> {
  const command = browserCommand(process.env, process.platform);
  if (command === null) return false;
  return new Promise((resolve) => {
    const child = spawn(command, [address], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
