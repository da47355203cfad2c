// Creates the object store that the configured URL names.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFolderStore, type FolderStore } from './folder-store.ts';
import type { ObjectStore } from './object-store.ts';
import { readS3Url } from './s3-url.ts';

export type ObjectStoreConfig = { url: string; publicUrl: string; signingKey?: Uint8Array };

/** The store of a `file://`, `s3://` or `https://` URL. The client of S3 is loaded for S3 only. */
export async function createObjectStore({ url, publicUrl, signingKey }: ObjectStoreConfig): Promise<ObjectStore> {
  if (!url.startsWith('file:')) return (await import('./s3-store.ts')).createS3Store(readS3Url(url));
  if (!signingKey) throw new Error('a file:// store needs a signing key');
  return createFolderStore({ folder: resolve(fileURLToPath(url)), publicUrl, secret: signingKey });
}

/** Only the folder store is served by jobs itself. */
export function isFolderStore(store: ObjectStore): store is FolderStore {
  return (store as FolderStore).kind === 'file';
}
