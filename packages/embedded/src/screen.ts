// What a person sees while the system starts, runs and stops: one line a step, what is being waited for, and problems.

export type Screen = {
  step(message: string): void;
  /** Shows, until the answer is called, what takes long; `what` is asked each time. */
  waiting(what: () => string): () => void;
  problem(name: string, message: string): void;
  say(text: string): void;
};

const firstWordAfterMs = 1_500;
const nextWordsEveryMs = 3_000;
const quietMs = 5_000;

/** Writes to `output`, without cursor tricks, so that a log file of it reads the same. */
export function createScreen(output: NodeJS.WritableStream): Screen {
  const begun = performance.now();
  const lastProblem = new Map<string, { message: string; at: number }>();
  const line = (text: string) => output.write(`${text}\n`);
  const seconds = () => `${((performance.now() - begun) / 1000).toFixed(1)} s`.padStart(7);
  return {
    step: (message) => line(`${seconds()}  ✓ ${message}`),
    waiting: (what) => {
      let timer = setTimeout(function tell() {
        line(`${seconds()}  … waiting for ${what()}`);
        timer = setTimeout(tell, nextWordsEveryMs);
      }, firstWordAfterMs);
      return () => clearTimeout(timer);
    },
    problem: (name, message) => {
      const last = lastProblem.get(name);
      if (last?.message === message && performance.now() - last.at < quietMs) return;
      lastProblem.set(name, { message, at: performance.now() });
      line(`  ! ${name}: ${message}`);
    },
    say: line,
  };
}
