/** Names of workers inside an engine's own process begin so; what they ran died with it. */
export const LOCAL_WORKER_PREFIX = "local-";

export function isLocalWorker(name: string): boolean {
  return name.startsWith(LOCAL_WORKER_PREFIX);
}
