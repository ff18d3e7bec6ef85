import { spawn } from "node:child_process";

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
