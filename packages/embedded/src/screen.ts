// The output while the system starts, runs and stops: a line a step, the parts it waits for,
// problems.

export type Screen = {
  step(message: string): void;
  /** Reports a long wait until the returned function is called; `what` names its current reason. */
  waiting(what: () => string): () => void;
  problem(name: string, message: string): void;
  say(text: string): void;
};

const firstReportMs = 1_500;
const reportEveryMs = 3_000;
const quietMs = 5_000;

/** Writes plain lines, without cursor movements, so that the output reads well in a file. */
export function createScreen(output: NodeJS.WritableStream): Screen {
  const begun = performance.now();
  const lastProblem = new Map<string, { message: string; at: number }>();
  const line = (text: string) => output.write(`${text}\n`);
  const seconds = () => `${((performance.now() - begun) / 1000).toFixed(1)} s`.padStart(7);
  return {
    step: (message) => line(`${seconds()}  ✓ ${message}`),
    waiting: (what) => {
      let timer = setTimeout(function report() {
        line(`${seconds()}  … waiting for ${what()}`);
        timer = setTimeout(report, reportEveryMs);
      }, firstReportMs);
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
