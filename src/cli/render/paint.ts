export type Colour = "red" | "green" | "yellow" | "cyan" | "dim" | "bold";

const CODES: Readonly<Record<Colour, readonly [open: number, close: number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
};

/** Colours a text, or leaves it as it is where there is no terminal to show colours. */
export type Paint = (colour: Colour, text: string) => string;

export const plainPaint: Paint = (_colour, text) => text;

export const ansiPaint: Paint = (colour, text) => {
  const [open, close] = CODES[colour];
  return `\x1b[${open}m${text}\x1b[${close}m`;
};
