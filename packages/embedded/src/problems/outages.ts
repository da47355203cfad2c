// Reports on the console that a server outside can't be reached, once, and again when it is back.
import type { NeededServer } from '@almanac/service-kit/process/reports';

type Server = { variable: string; what: string; effect: string };

const servers: Record<NeededServer, Server> = {
  bus: { variable: 'ALMANAC_BUS_URL', what: 'RabbitMQ', effect: 'Messages and jobs wait' },
  object_store: {
    variable: 'JOBS_OBJECT_STORE_URL',
    what: 'The object store',
    effect: 'Imports, exports and uploads wait',
  },
};

/**
 * Returns a function that takes what one service reports as unavailable at present. A server counts
 * as available again when no service reports it any more.
 */
export function watchOutages(
  env: NodeJS.ProcessEnv,
  say: (name: string, message: string) => void,
): (service: string, unavailable: readonly NeededServer[]) => void {
  const reporting = new Map<NeededServer, Set<string>>();
  return (service, unavailable) => {
    for (const [name, { variable, what, effect }] of Object.entries(servers) as [NeededServer, Server][]) {
      const services = reporting.get(name) ?? new Set();
      reporting.set(name, services);
      const before = services.size;
      if (unavailable.includes(name)) services.add(service);
      else services.delete(service);
      const place = `${what} at ${hostOf(env[variable])}`;
      if (before === 0 && services.size > 0)
        say(name, `${place} can't be reached. ${effect} until it is back; check that it runs, and ${variable}.`);
      else if (before > 0 && services.size === 0) say(name, `${place} is back`);
    }
  };
}

// Without the credentials of the URL.
const hostOf = (url: string | undefined): string => URL.parse(url ?? '')?.host ?? 'its address';
