/** On stdout, not faster than its reader takes them. */
export function writeBytes(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(bytes, () => resolve());
  });
}
