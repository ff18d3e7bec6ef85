import { useState } from "react";

/** What is being typed, begun with what the text says; when the text says something else, that again. The field stays. */
export function useTyped<T>(said: T): [typed: T, type: (value: T) => void] {
  const mark = JSON.stringify(said);
  const [state, setState] = useState({ mark, typed: said });
  if (state.mark !== mark) setState({ mark, typed: said });
  return [state.mark === mark ? state.typed : said, (typed) => setState({ mark, typed })];
}
