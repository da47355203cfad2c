// What JSON.parse is told to call for each value.

/** The revivers of all calls of JSON.parse that the work makes; undefined where there is none. */
export function reviversOf(work: () => void): unknown[] {
  const own = JSON.parse;
  const given: unknown[] = [];
  try {
    JSON.parse = (text, reviver) => {
      given.push(reviver);
      return own(text, reviver);
    };
    work();
  } finally {
    JSON.parse = own;
  }
  return given;
}
