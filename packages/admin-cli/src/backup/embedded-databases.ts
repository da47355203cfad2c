// The databases of a stopped embedded system: runs its PostgreSQL alone while work is done on them.
import { existsSync } from 'node:fs';
import type { Child } from '@almanac/embedded/child';
import { AlreadyRunningError, lockHome, makeHome, readHome } from '@almanac/embedded/home';
import { findFreePorts } from '@almanac/embedded/ports';
import { createPostgres, databases, superuserPassword } from '@almanac/embedded/postgres';
import { readOrMakeSecrets } from '@almanac/embedded/secrets';
import type { Environment } from '@almanac/service-kit/config/config';
import { OperatorError } from '../operator.ts';
import { embeddedEnvironment } from './places.ts';

/** Starts the server, creates missing databases, does the work, and stops the server. */
export async function withEmbeddedDatabases<T>(
  env: Environment,
  work: (places: Environment) => Promise<T>,
): Promise<T> {
  const home = readHome(env);
  if (!existsSync(home.secrets))
    throw new OperatorError(
      `${home.secrets} is missing: put the one of the backed-up system there; without it the signing keys can not be read. For a deployed system set IDENTITY_DATABASE_URL and its like.`,
    );
  makeHome(home);
  const unlock = takeLock(home);
  let server: Child | undefined;
  try {
    const passwords = readOrMakeSecrets(home, [...databases, superuserPassword]).database_passwords;
    const [port] = (await findFreePorts(1)) as [number];
    const postgres = createPostgres({ home, port, passwords, onProblem: () => {}, onChange: () => {} });
    await postgres.start((child) => {
      server = child;
    });
    return await work(embeddedEnvironment(env, home, port));
  } finally {
    await server?.stop(10_000);
    unlock();
  }
}

function takeLock(home: ReturnType<typeof readHome>): () => void {
  try {
    return lockHome(home);
  } catch (error) {
    if (error instanceof AlreadyRunningError) throw new OperatorError(error.message);
    throw error;
  }
}
