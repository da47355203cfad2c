// Identity's public keys: fetched when the bus connects and when identity has rotated them, again for a key id nobody has seen (at
// most once a second), and once a minute so that a key that was taken away stops counting.

import { ServiceError } from '@almanac/service-kit/errors';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Upstream } from '../forwarding/upstreams.ts';

export type SigningKeys = {
  getKey: JWTVerifyGetKey;
  /** Called when keys have gone. */
  onRemoved(listener: () => void): void;
  start(): Promise<void>;
  stop(): void;
};

type Options = { identity: Pick<Upstream, 'getJson'>; bus: Pick<Bus, 'subscribe'>; logger: Logger; reloadMs?: number };

export function createSigningKeys({ identity, bus, logger, reloadMs = 60_000 }: Options): SigningKeys {
  const path = '/.well-known/jwks.json';
  const remote = createRemoteJWKSet(new URL(path, 'http://identity'), {
    [customFetch]: async () => Response.json(await identity.getJson(path)), // over TLS where identity's URL says so
    cooldownDuration: 1_000,
    cacheMaxAge: Number.POSITIVE_INFINITY,
  });
  const listeners: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let reloading: Promise<void> | undefined;
  let isStale = false;

  const kids = () => new Set((remote.jwks()?.keys ?? []).map((key) => key.kid));
  const fetchAgain = async () => {
    const before = kids();
    try {
      await remote.reload();
    } catch (error) {
      logger.warn({ err: error }, 'signing keys could not be read again; the known ones go on');
      return;
    }
    const after = kids();
    if ([...before].some((kid) => !after.has(kid))) for (const listener of listeners) listener();
  };
  // What changes during a fetch may have come too late for it.
  const reload = async () => {
    isStale = true;
    reloading ??= (async () => {
      while (isStale) {
        isStale = false;
        await fetchAgain();
      }
      reloading = undefined;
    })();
    await reloading;
  };

  return {
    getKey: async (header, token) => {
      // Identity's tokens name their key; one that doesn't isn't tried with whatever keys there are.
      if (header.kid === undefined) throw new errors.JWKSNoMatchingKey();
      try {
        return await remote(header, token);
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported) throw error;
        throw new ServiceError('unavailable', 'Tokens can not be checked just now; try again.', { cause: error });
      }
    },
    onRemoved: (listener) => void listeners.push(listener),
    async start() {
      timer = setInterval(() => void reload(), reloadMs);
      timer.unref();
      await bus.subscribe({ 'identity.signing_key.rotated': z.object({}) }, reload, {
        onConnected: () => void reload(),
      });
    },
    stop: () => clearInterval(timer),
  };
}
