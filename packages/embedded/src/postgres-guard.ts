// A process between the supervisor and PostgreSQL, so that a killed supervisor leaves no server
// behind: it starts the server of its arguments, exits with it, and stops it when the supervisor
// has ended.
import { spawn } from 'node:child_process';
import type { Command } from '@almanac/embedded-postgres/programs';

const servicesLeaveWithinMs = 5_000;

if (import.meta.main) guard();

function guard(): void {
  const { command, args, ...user } = JSON.parse(process.argv[2] as string) as Command;
  const server = spawn(command, args, { ...user, stdio: ['ignore', 'inherit', 'inherit'] });

  server.once('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  server.once('exit', (code) => process.exit(code ?? 1));

  process.on('SIGTERM', () => server.kill('SIGINT')); // PostgreSQL's fast shutdown
  process.on('SIGINT', () => {});
  process.on('disconnect', () => {
    setTimeout(() => server.kill('SIGINT'), servicesLeaveWithinMs);
  });
  process.send?.({ serverPid: server.pid });
}
