// Constructs the console's server; no other file creates its parts. The files are read once, so a
// build counts from the next start.
import type { Service } from '@almanac/service-kit/process/run';
import { createLifecycle, createServiceRuntime, type Overrides } from '@almanac/service-kit/process/service-runtime';
import type { ConsoleConfig } from './config.ts';
import type { ConsoleContext } from './context.ts';
import { readConsoleFiles } from './files.ts';
import { createConsoleHttp } from './http.ts';

export async function createConsole(
  config: ConsoleConfig,
  overrides: Overrides = {},
): Promise<Service<ConsoleContext>> {
  const runtime = await createServiceRuntime(config.common, overrides);
  const { bus, logger } = runtime;
  const context: ConsoleContext = { files: readConsoleFiles(config.folder) };
  if (!context.files.index) logger.warn({ folder: config.folder }, 'the console has not been built');
  const http = createConsoleHttp(context, runtime);
  const lifecycle = createLifecycle(runtime, [
    { name: 'bus', start: () => bus.start(), stop: () => bus.stop() },
    { name: 'http', start: () => http.start(), stop: () => http.stop() },
  ]);
  return { context, ...lifecycle };
}
