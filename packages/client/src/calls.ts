// The types of calls, derived from the generated types of the OpenAPI document.
import type { FetchOptions, MaybeOptionalInit } from 'openapi-fetch';
import type {
  FilterKeys,
  HttpMethod,
  PathsWithMethod,
  RequiredKeysOf,
  SuccessResponseJSON,
} from 'openapi-typescript-helpers';
import type { paths } from './generated/schema.ts';

/** The paths, below `/api/v1`, with the method. */
export type PathOf<M extends HttpMethod> = PathsWithMethod<paths, M>;

type Options<P extends keyof paths, M extends HttpMethod> = MaybeOptionalInit<paths[P], M & keyof paths[P]>;

/** `{ params, body, signal, headers }` of a call; optional when none of it is required. */
export type Init<P extends keyof paths, M extends HttpMethod> =
  RequiredKeysOf<FetchOptions<FilterKeys<paths[P], M>>> extends never ? [Options<P, M>?] : [Options<P, M>];

/** The answer of a call. */
export type Answer<P extends keyof paths, M extends HttpMethod> = paths[P][M &
  keyof paths[P]] extends infer Operation extends Record<string | number, unknown>
  ? SuccessResponseJSON<Operation>
  : never;

export type Call<M extends HttpMethod> = <P extends PathOf<M>>(path: P, ...init: Init<P, M>) => Promise<Answer<P, M>>;

/** The paths whose GET answers pages of items. */
export type ListPath = {
  [P in PathOf<'get'>]: Answer<P, 'get'> extends { data: unknown[]; meta: { total_pages: number } } ? P : never;
}[PathOf<'get'>];

export type Item<P extends ListPath> = Answer<P, 'get'> extends { data: (infer T)[] } ? T : never;
