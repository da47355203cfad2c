// /openapi.json: every service's own part, asked for while it runs, merged and kept for a minute. A part that can't be had
// just now is the one known before.

import { mergeOpenApi, type OpenApiDocument } from '@almanac/service-kit/api/openapi';
import { ServiceError } from '@almanac/service-kit/errors';
import { upstreamNames } from '../config.ts';
import type { Upstreams } from '../forwarding/upstreams.ts';

type Fragment = Pick<OpenApiDocument, 'paths'>;

const freshForMs = 60_000;

/** Answers the document as text; 503 while a service has never told its part. */
export function createOpenApiDocument(upstreams: Upstreams, publicUrl: string): () => Promise<string> {
  const fragments = new Map<string, Fragment>();
  let made: { text: string; until: number } | undefined;
  let making: Promise<string> | undefined;

  const read = async (name: (typeof upstreamNames)[number]) => {
    try {
      fragments.set(name, (await upstreams[name].getJson('/openapi.json')) as Fragment);
    } catch (cause) {
      if (!fragments.has(name))
        throw new ServiceError('unavailable', `The part of ${name} is not available just now; try again.`, { cause });
    }
  };

  const make = async () => {
    await Promise.all(upstreamNames.map(read));
    const text = JSON.stringify(mergeOpenApi([...fragments.values()], publicUrl));
    made = { text, until: Date.now() + freshForMs };
    return text;
  };

  return () => {
    if (made && made.until > Date.now()) return Promise.resolve(made.text);
    // Anybody may ask, so however many do at once, the services are asked once.
    making ??= make().finally(() => {
      making = undefined;
    });
    return making;
  };
}
