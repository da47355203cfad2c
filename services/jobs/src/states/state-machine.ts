// State machines: one list of transitions each. Code derives from it the states that allow an
// event; a test compares it with the diagrams in docs/states.

export type Transition<S extends string, E extends string> = readonly [from: S, event: E, to: S];

/** The states that allow the event, or only those from which it leads to `to`. */
export function statesAllowing<S extends string, E extends string>(
  machine: readonly Transition<S, E>[],
  event: NoInfer<E>,
  to?: NoInfer<S>,
): S[] {
  const from = machine.filter(([, name, next]) => name === event && (to === undefined || next === to));
  return [...new Set(from.map(([state]) => state))];
}
