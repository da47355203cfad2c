import { t } from '@lingui/core/macro';
import { client } from '../api/client.ts';

/** A new link to the file of an export; the one before may have expired. */
export async function freshLink(id: number): Promise<string> {
  const { download_url } = await client.get('/exports/{id}', { params: { path: { id } } });
  if (download_url === null) throw new Error(t`The export has no file any more.`);
  return download_url;
}
