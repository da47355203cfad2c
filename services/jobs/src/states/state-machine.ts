// Machines of states: one list of transitions each. Code asks the list which states an event may find; the diagrams under
// docs/states are compared with it by a test.

export type Transition<S extends string, E extends string> = readonly [from: S, event: E, to: S];

/** The states in which the event may happen, optionally with that outcome. */
export function before<S extends string, E extends string>(
  machine: readonly Transition<S, E>[],
  event: NoInfer<E>,
  to?: NoInfer<S>,
): S[] {
  const from = machine.filter(([, name, next]) => name === event && (to === undefined || next === to));
  return [...new Set(from.map(([state]) => state))];
}
