/** A workflow's name in the cause of a run, whose parts are set apart by slashes: a name may hold some itself. */
export function inCause(workflow: string): string {
  return workflow.replace(/[%/]/g, (character) => encodeURIComponent(character));
}
