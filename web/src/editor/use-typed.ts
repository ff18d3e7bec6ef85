import { useState } from "react";

/**
 * The present input of a field. It starts with the text's value and is reset when that value changes, without replacing
 * the field.
 */
export function useTyped<T>(said: T): [typed: T, type: (value: T) => void] {
  const mark = JSON.stringify(said);
  const [state, setState] = useState({ mark, typed: said });
  if (state.mark !== mark) setState({ mark, typed: said });
  return [state.mark === mark ? state.typed : said, (typed) => setState({ mark, typed })];
}
