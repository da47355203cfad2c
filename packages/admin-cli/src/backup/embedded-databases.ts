// The databases of an embedded system that is stopped: its PostgreSQL alone, for as long as something is done to them.
import { existsSync } from 'node:fs';
import type { Child } from '@almanac/embedded/child';
import { AlreadyRunningError, lockHome, makeHome, readHome } from '@almanac/embedded/home';
import { findFreePorts } from '@almanac/embedded/ports';
import { createPostgres, databases, superuserPassword } from '@almanac/embedded/postgres';
import { readOrMakeSecrets } from '@almanac/embedded/secrets';
import type { Environment } from '@almanac/service-kit/config/config';
import { OperatorError } from '../operator.ts';
import { embeddedEnvironment } from './places.ts';

/** Makes the databases where they aren't there yet, starts their server, and stops it when the work is done. */
export async function withEmbeddedDatabases<T>(
  env: Environment,
  work: (places: Environment) => Promise<T>,
): Promise<T> {
  const home = readHome(env);
  if (!existsSync(home.secrets))
    throw new OperatorError(
      `${home.secrets} is missing: put the one of the system that was backed up there, or nobody can read its signing keys. For a deployed system set IDENTITY_DATABASE_URL and its like.`,
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
