// Stands between the supervisor and PostgreSQL, so that a supervisor that is killed leaves no server behind:
// it starts the server named in its arguments, passes its end on, and stops it when the supervisor has gone.
import { spawn } from 'node:child_process';
import type { Command } from '@almanac/embedded-postgres/programs';

const { command, args, ...user } = JSON.parse(process.argv[2] as string) as Command;
const server = spawn(command, args, { ...user, stdio: ['ignore', 'inherit', 'inherit'] });
const servicesLeaveWithinMs = 5_000;

server.once('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
server.once('exit', (code) => process.exit(code ?? 1));

process.on('SIGTERM', () => server.kill('SIGINT')); // PostgreSQL's "fast": ends the connections, keeps everything
process.on('SIGINT', () => {});
process.on('disconnect', () => {
  setTimeout(() => server.kill('SIGINT'), servicesLeaveWithinMs);
});
process.send?.({ serverPid: server.pid });
