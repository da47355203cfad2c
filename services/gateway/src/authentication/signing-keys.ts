// Identity's public keys. They are fetched when the bus connects, when identity announces a
// rotation, for an unknown key id (at most once a second), and every minute, so that a removed key
// stops being accepted even if its announcement was lost.

import { ServiceError } from '@almanac/service-kit/errors';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';

export type SigningKeys = {
  getKey: JWTVerifyGetKey;
  /** Registers a listener that is called when keys were removed. */
  onRemoved(listener: () => void): void;
  start(): Promise<void>;
  stop(): void;
};

type Options = {
  identity: { getJson(path: string): Promise<unknown> };
  bus: Pick<Bus, 'subscribe'>;
  logger: Logger;
  reloadMs?: number;
};

export function createSigningKeys({ identity, bus, logger, reloadMs = 60_000 }: Options): SigningKeys {
  const path = '/.well-known/jwks.json';
  const remote = createRemoteJWKSet(new URL(path, 'http://identity'), {
    [customFetch]: async () => Response.json(await identity.getJson(path)), // over TLS if identity's URL is https://
    cooldownDuration: 1_000,
    cacheMaxAge: Number.POSITIVE_INFINITY,
  });
  const listeners: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let reloading: Promise<void> | undefined;
  let isReloadDue = false;

  const keyIds = () => new Set((remote.jwks()?.keys ?? []).map((key) => key.kid));
  const fetchKeys = async () => {
    const before = keyIds();
    try {
      await remote.reload();
    } catch (error) {
      logger.warn({ err: error }, 'signing keys could not be fetched; the cached ones stay in use');
      return;
    }
    const after = keyIds();
    if ([...before].some((kid) => !after.has(kid))) for (const listener of listeners) listener();
  };
  // A change during a fetch may be missing from its answer, so it causes another fetch.
  const reload = async () => {
    isReloadDue = true;
    reloading ??= (async () => {
      while (isReloadDue) {
        isReloadDue = false;
        await fetchKeys();
      }
      reloading = undefined;
    })();
    await reloading;
  };

  return {
    getKey: async (header, token) => {
      // Identity's tokens always name their key; without a key id no key is tried.
      if (header.kid === undefined) throw new errors.JWKSNoMatchingKey();
      try {
        return await remote(header, token);
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported) throw error;
        throw new ServiceError('unavailable', 'Tokens can not be verified at the moment; retry later.', {
          cause: error,
        });
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
