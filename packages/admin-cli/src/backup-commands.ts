// The commands of backup and restore. They use databases and bucket directly, so no service needs
// to run. Their code is imported lazily, since only the operators' image has its packages.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readHome, readRuntime } from '@almanac/embedded/home';
import { type Command, readCount, text } from './arguments.ts';
import type { Manifest } from './backup/manifest.ts';
import { OperatorError } from './operator.ts';

export const backupCommands = {
  backup: {
    usage: 'backup FOLDER [--keep N]',
    about:
      'Writes all databases as of one instant, and the files that they refer to, into an empty folder. With --keep into a new folder within FOLDER, and deletes all but the latest N there.',
    options: { keep: text },
    positionals: 1,
    asksNoService: true,
    prepare: (values, [named]) => {
      const folder = requireFolder(named, 'backup');
      const keep = readCount(values, 'keep', 'backups');
      if (keep === 0) throw new OperatorError('--keep should be 1 or more.');
      return async () => {
        const [{ backup }, { noteBackup }, { deleteOldBackups, newBackupFolder }, { readPlaces }] = await Promise.all([
          import('./backup/backup.ts'),
          import('./backup/note-backup.ts'),
          import('./backup/kept-backups.ts'),
          import('./backup/places.ts'),
        ]);
        const into = keep === undefined ? folder : newBackupFolder(folder);
        return onDatabases(process.env, async (env) => {
          const places = await readPlaces(env);
          const manifest = await backup(places, into);
          await noteBackup(places, manifest, into);
          return { ...manifest, folder: into, deleted: keep === undefined ? [] : deleteOldBackups(folder, keep) };
        });
      };
    },
    show: (made: Manifest & { folder: string; deleted: string[] }) =>
      [
        `Backup as of ${describe(made)}${settled(made)}`,
        ...made.databases.filter(({ left_out }) => left_out.length > 0).map(describeLeftOut),
        `It is in ${made.folder}.${made.deleted.length > 0 ? ` Deleted: ${made.deleted.join(', ')}.` : ''}`,
      ].join('\n'),
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
        const [{ restore }, { requireOneBackup }, { readPlaces, namesDatabases }] = await Promise.all([
          import('./backup/restore.ts'),
          import('./backup/kept-backups.ts'),
          import('./backup/places.ts'),
        ]);
        requireOneBackup(from);
        const work = (howToEmpty: string) => async (env: NodeJS.ProcessEnv) =>
          restore(await readPlaces(env), from, howToEmpty);
        if (namesDatabases(process.env))
          return work('Stop the services, drop the database, create it again')(process.env);
        const { withEmbeddedDatabases } = await import('./backup/embedded-databases.ts');
        return withEmbeddedDatabases(process.env, work(`Move ${readHome(process.env).postgres} away`));
      };
    },
    show: (manifest: Manifest) => `Restored as of ${describe(manifest)}`,
  },
} satisfies Record<string, Command>;

function requireFolder(folder: string | undefined, command: string): string {
  if (!folder) throw new OperatorError(`Which folder? ${command} FOLDER`);
  return resolve(process.env.INIT_CWD ?? '.', folder);
}

// The variables of the services name a deployed system; without them it is the embedded one here,
// whose PostgreSQL is started for the work when the system is stopped.
async function onDatabases<T>(env: NodeJS.ProcessEnv, work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> {
  const { embeddedEnvironment, namesDatabases } = await import('./backup/places.ts');
  if (namesDatabases(env)) return work(env);
  const home = readHome(env);
  const runtime = readRuntime(home);
  if (runtime) return work(embeddedEnvironment(env, home, runtime.postgres_port));
  if (!existsSync(home.postgres))
    throw new OperatorError(
      `No system is known: set IDENTITY_DATABASE_URL and its like, or start one with "npm start" (looked in ${home.folder}).`,
    );
  const { withEmbeddedDatabases } = await import('./backup/embedded-databases.ts');
  return withEmbeddedDatabases(env, work);
}

const inMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function describe({ taken_at, databases, objects }: Manifest): string {
  const bytes = databases.reduce((sum, database) => sum + database.bytes, 0);
  return `${taken_at}: ${databases.length} databases (${inMegabytes(bytes)}), ${objects.count} files (${inMegabytes(objects.bytes)}).`;
}

const describeLeftOut = ({ name, left_out }: Manifest['databases'][number]) =>
  `Not in the backup of ${name}, since it is not of Almanac: ${left_out.join(', ')}.`;

const settled = ({ is_settled }: Manifest) =>
  is_settled
    ? ''
    : '\nMessages were on their way between services at that instant; see docs/how-to/backup-and-restore.md.';
