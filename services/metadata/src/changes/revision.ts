// Revisions: short names of the state that diffs were made of, for whoever promotes or deploys just what he has seen.
import { createHash } from 'node:crypto';

/** Another name whenever one of the facts is another. */
export const revisionOf = (facts: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 22);
