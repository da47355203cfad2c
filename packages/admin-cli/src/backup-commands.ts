// The commands of backup and restore. They use databases and bucket directly, so no service needs
// to run. Their code is imported lazily, since only the operators' image has its packages.
import { resolve } from 'node:path';
import { readHome, readRuntime } from '@almanac/embedded/home';
import type { Command } from './arguments.ts';
import type { Manifest } from './backup/manifest.ts';
import { OperatorError } from './operator.ts';

export const backupCommands = {
  backup: {
    usage: 'backup FOLDER',
    about: 'Writes all databases as of one instant, and the files that they refer to, into an empty folder.',
    options: {},
    positionals: 1,
    asksNoService: true,
    prepare: (_values, [folder]) => {
      const into = requireFolder(folder, 'backup');
      return async () => {
        const [{ backup }, { readPlaces }] = await Promise.all([
          import('./backup/backup.ts'),
          import('./backup/places.ts'),
        ]);
        return backup(await readPlaces(await environmentOf(process.env)), into);
      };
    },
    show: (manifest: Manifest) => `Backup as of ${describe(manifest)}${settled(manifest)}`,
  },
  restore: {
    usage: 'restore FOLDER',
    about: 'Fills empty databases and the bucket from a backup, while no service runs.',
    options: {},
    positionals: 1,
    asksNoService: true,
    prepare: (_values, [folder]) => {
      const from = requireFolder(folder, 'restore');
      return async () => {
        const [{ restore }, { readPlaces, namesDatabases }] = await Promise.all([
          import('./backup/restore.ts'),
          import('./backup/places.ts'),
        ]);
        const work = async (env: NodeJS.ProcessEnv) => restore(await readPlaces(env), from);
        if (namesDatabases(process.env)) return work(process.env);
        const { withEmbeddedDatabases } = await import('./backup/embedded-databases.ts');
        return withEmbeddedDatabases(process.env, work);
      };
    },
    show: (manifest: Manifest) => `Restored as of ${describe(manifest)}`,
  },
} satisfies Record<string, Command>;

function requireFolder(folder: string | undefined, command: string): string {
  if (!folder) throw new OperatorError(`Which folder? ${command} FOLDER`);
  return resolve(process.env.INIT_CWD ?? '.', folder);
}

// The variables of the services name a deployed system; without them it is the embedded one here.
async function environmentOf(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const { embeddedEnvironment, namesDatabases } = await import('./backup/places.ts');
  if (namesDatabases(env)) return env;
  const home = readHome(env);
  const runtime = readRuntime(home);
  if (!runtime)
    throw new OperatorError(
      `No system is known: set IDENTITY_DATABASE_URL and its like, or start one with "npm start" (looked in ${home.folder}).`,
    );
  return embeddedEnvironment(env, home, runtime.postgres_port);
}

const inMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function describe({ taken_at, databases, objects }: Manifest): string {
  const bytes = databases.reduce((sum, database) => sum + database.bytes, 0);
  return `${taken_at}: ${databases.length} databases (${inMegabytes(bytes)}), ${objects.count} files (${inMegabytes(objects.bytes)}).`;
}

const settled = ({ is_settled }: Manifest) =>
  is_settled
    ? ''
    : '\nMessages were on their way between services at that instant; see docs/how-to/backup-and-restore.md.';
