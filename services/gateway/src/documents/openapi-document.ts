// /openapi.json: the documents of all services, merged and cached for a minute. While a service is
// unreachable, its last document is used.
import { mergeOpenApi, type OpenApiFragment } from '@almanac/service-kit/api/openapi';
import { ServiceError } from '@almanac/service-kit/errors';
import { upstreamNames } from '../config.ts';
import type { Upstreams } from '../forwarding/upstreams.ts';
import { etagOf } from './docs-files.ts';
import { examples } from './examples.ts';

const ttlMs = 60_000;

/** The document as text, with its ETag. */
export type ServedDocument = { text: string; etag: string };

/** Returns a function that yields the document; 503 if a service was never reachable. */
export function createOpenApiDocument(upstreams: Upstreams, publicUrl: string): () => Promise<ServedDocument> {
  const fragments = new Map<string, OpenApiFragment>();
  let cached: (ServedDocument & { until: number }) | undefined;
  let building: Promise<ServedDocument> | undefined;

  const read = async (name: (typeof upstreamNames)[number]) => {
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
    await Promise.all(upstreamNames.map(read));
    const text = JSON.stringify(mergeOpenApi([...fragments.values()], publicUrl, examples));
    cached = { text, etag: etagOf(text), until: Date.now() + ttlMs };
    return cached;
  };

  return () => {
    if (cached && cached.until > Date.now()) return Promise.resolve(cached);
    // Anyone may request it, so concurrent requests share one fetch from the services.
    building ??= build().finally(() => {
      building = undefined;
    });
    return building;
  };
}
