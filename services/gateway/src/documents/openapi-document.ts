// /openapi.json: the documents of all services, merged and cached for a minute. While a service is
// unreachable, its last document is used.

import { mergeOpenApi, type OpenApiFragment } from '@almanac/service-kit/api/openapi';
import { ServiceError } from '@almanac/service-kit/errors';
import { createDocument, type Document } from '@almanac/service-kit/http/document';
import { apiServiceNames } from '../config.ts';
import type { Upstreams } from '../forwarding/upstreams.ts';
import { examples } from './examples.ts';

const ttlMs = 60_000;

/** Returns a function that yields the document; 503 if a service was never reachable. */
export function createOpenApiDocument(upstreams: Upstreams, publicUrl: string): () => Promise<Document> {
  const fragments = new Map<string, OpenApiFragment>();
  let cached: { document: Document; until: number } | undefined;
  let building: Promise<Document> | undefined;

  const read = async (name: (typeof apiServiceNames)[number]) => {
    try {
      fragments.set(name, (await upstreams[name].getJson('/openapi.json')) as OpenApiFragment);
    } catch (cause) {
      if (!fragments.has(name))
        throw new ServiceError(
          'unavailable',
          `The API document of the ${name} service is not available; retry later.`,
          { cause },
        );
    }
  };

  const build = async () => {
    await Promise.all(apiServiceNames.map(read));
    const content = Buffer.from(JSON.stringify(mergeOpenApi([...fragments.values()], publicUrl, examples)));
    const built = createDocument('application/json', content);
    // The present one, if it is equal, is compressed already.
    const document = built.digest === cached?.document.digest ? cached.document : built;
    cached = { document, until: Date.now() + ttlMs };
    return document;
  };

  return () => {
    if (cached && cached.until > Date.now()) return Promise.resolve(cached.document);
    // Anyone may request it, so concurrent requests share one fetch from the services.
    building ??= build().finally(() => {
      building = undefined;
    });
    return building;
  };
}
