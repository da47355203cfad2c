// The revivers that code passes to JSON.parse.

/** The reviver of each call of JSON.parse during `work`; undefined where there is none. */
export function reviversOf(work: () => void): unknown[] {
  const original = JSON.parse;
  const revivers: unknown[] = [];
  try {
    JSON.parse = (text, reviver) => {
      revivers.push(reviver);
      return original(text, reviver);
    };
    work();
  } finally {
    JSON.parse = original;
  }
  return revivers;
}
