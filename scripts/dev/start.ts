// `npm start`, by start.js: the whole system on this machine with nothing but Node. See
// docs/how-to/run-embedded.md.
import { parseArgs } from 'node:util';
import { finalScreen } from '@almanac/embedded/final-screen';
import { AlreadyRunningError, readHome } from '@almanac/embedded/home';
import { createScreen } from '@almanac/embedded/screen';
import { type Ending, StoppedError, startSystem } from '@almanac/embedded/supervisor';
import { ConfigError } from '@almanac/service-kit/config/config';
import { configExitCode } from '@almanac/service-kit/process/reports';
import { seedDemo } from './demo-account.ts';
import { onNpmEnd } from './npm-end.ts';

const help = `Usage: npm start [-- --no-demo]

Starts Almanac on this machine: PostgreSQL and the seven services. Stop it with Ctrl-C.

  --no-demo   without the demo account and its reference data

  PORT          port of the API (default 8080; 0 = any free one)
  ALMANAC_HOME  where the state is kept (default .almanac)

More settings: docs/how-to/configure.md`;

/** Runs until the system is stopped. */
export async function start(): Promise<void> {
  const values = readArguments();
  if (values.help) {
    console.log(help);
    process.exit(0);
  }

  const home = readHome(process.env);
  const screen = createScreen(process.stdout);
  const interrupted = new AbortController();
  let ending: Ending = { stop: async () => {}, kill: () => {} };
  let leaving = false;
  let interruptedAt = 0;

  const leave = (why: string) => {
    if (leaving) return;
    leaving = true;
    screen.say(`\nStopping (${why}) … Ctrl-C again ends everything at once.`);
    interrupted.abort(new StoppedError());
    ending.stop().then(
      () => {
        screen.say('Stopped. Nothing is lost; "npm start" starts it again.');
        process.exit(0);
      },
      (error: Error) => {
        screen.say(error.message);
        process.exit(1);
      },
    );
  };
  const leaveAtOnce = () => {
    ending.kill();
    screen.say('Ended at once. What was acknowledged is kept; "npm start" starts it again.');
    process.exit(130);
  };
  process.on('SIGINT', () => {
    const now = performance.now();
    if (!leaving) interruptedAt = now;
    else if (now - interruptedAt > samePressMs) leaveAtOnce();
    leave('Ctrl-C');
  });
  process.on('SIGTERM', () => leave('SIGTERM'));
  process.on('SIGHUP', () => leave('the terminal was closed'));
  process.on('disconnect', () => leave('the process that started this has ended'));
  process.stdout.on('error', () => {}); // a closed pipe must not stop the system
  onNpmEnd(() => leave('npm has ended'));

  try {
    screen.say(`Almanac · state in ${home.folder} · Ctrl-C stops it`);
    const system = await startSystem({ home, env: process.env, screen }, (way) => {
      ending = way;
    });
    if (!values['no-demo']) await seedDemo({ home, system, screen, signal: interrupted.signal });
    screen.say(finalScreen(home, system.baseUrl, process.env));
    process.send?.({ ready: true, base_url: system.baseUrl });
  } catch (error) {
    if (!leaving) {
      leaving = true;
      console.error(`\n${error instanceof AlreadyRunningError ? error.message : explain(error)}`);
      await ending.stop().catch(() => {});
      process.exit(error instanceof ConfigError ? configExitCode : 1);
    }
  }
}

// npm passes on a Ctrl-C that the terminal has sent to this process as well.
const samePressMs = 500;

function readArguments() {
  const options = { 'no-demo': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`);
    process.exit(2);
  }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `\n(${error.cause.message})` : '';
  return `Almanac did not start: ${error.message}${cause}`;
}
