import { TerminalText } from "../render/terminal-text.js";

const forTerminal = new TerminalText();

/** On stdout, not faster than its reader takes them. Byte for byte, but for a terminal without what a terminal obeys. */
export function writeBytes(bytes: Uint8Array): Promise<void> {
  const { stdout } = process;
  return new Promise((resolve) => {
    stdout.write(stdout.isTTY === true ? forTerminal.write(bytes) : bytes, () => resolve());
  });
}
