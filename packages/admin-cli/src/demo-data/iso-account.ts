// Loads the ISO code lists into an account as its administrator does: only people may deploy.
import { createApi } from '@almanac/api-client/api';
import { type Application, type Person, signInPerson } from '@almanac/api-client/sign-in';
import { isoTables } from './iso-data.ts';
import { type LoadedTable, loadTables, type Upload } from './load-tables.ts';

/**
 * Answers how many rows each table has. Can be repeated: what is there is not made again. `announce` hears of each phase; `way` is for
 * who can't reach the public addresses.
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
