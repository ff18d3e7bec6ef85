/** How a process ended. */
export interface Ended {
  readonly exit_code: number | null;
  readonly signal: string | null;
}

/**
 * A failure's message without how the process ended, where more is known than that: the code says it as well.
 *
 * @param step stands before the message, and what it prints may begin with it, too
 */
export function brokeText(message: string, step: string, ended: Ended): string {
  const told = without(message, `${step}: `);
  const end = endsOf(ended).find((each) => told.startsWith(`${each}: `));
  return end === undefined ? told : without(told.slice(end.length + 2), `${step}: `);
}

/** Nothing but how the process ended. */
export function isBareEnd(told: string, ended: Ended): boolean {
  return endsOf(ended).includes(told);
}

/** Whether a message has more than how the process ended: the line by which its program says what broke. */
export function hasTellingLine(message: string, ended: Ended): boolean {
  return endsOf(ended).some((each) => message.startsWith(`${each}: `));
}

function endsOf({ exit_code, signal }: Ended): readonly string[] {
  return [`exit code ${exit_code}`, `ended by signal ${signal}`];
}

function without(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : text;
}
