import { TerminalText } from "../render/terminal-text.js";

const forTerminal = new TerminalText();

/** Writes bytes to stdout, no faster than its reader takes them. For a terminal, control sequences are removed. */
export function writeBytes(bytes: Uint8Array): Promise<void> {
  const { stdout } = process;
  return new Promise((resolve) => {
    stdout.write(stdout.isTTY === true ? forTerminal.write(bytes) : bytes, () => resolve());
  });
}
