// Loads the ISO code lists into an account as its administrator: only people may deploy.
import { createApi } from '@almanac/api-client/api';
import { type Application, type Person, signInPerson } from '@almanac/api-client/sign-in';
import { isoTables } from './iso-data.ts';
import { type LoadedTable, loadTables, type Upload } from './load-tables.ts';

/**
 * Returns the rows of each table. Repeatable: existing parts are not created again. `announce` gets
 * each phase; `way` is for callers that can't reach the public addresses.
 */
export async function loadIsoData(
  baseUrl: string,
  { application, admin }: { application: Application; admin: Person },
  announce: (what: string) => void,
  way: { gatewayUrl?: string | undefined; upload?: Upload | undefined } = {},
): Promise<LoadedTable[]> {
  const url = way.gatewayUrl ?? baseUrl;
  announce('its log-in');
  const { access_token } = await signInPerson(baseUrl, application, admin, 'api', url);
  return loadTables(createApi(url, access_token), isoTables, announce, way.upload);
}
