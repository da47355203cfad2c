// Loads the ISO code lists into an account as its own first application does.
import { createApi } from '@almanac/api-client/api';
import { type Application, signInMachine } from '@almanac/api-client/sign-in';
import { isoTables } from './iso-data.ts';
import { loadTables, type Upload } from './load-tables.ts';

export type LoadedTable = { name: string; rows: number };

/** Answers how many rows each table has. Can be repeated: what is there is not made again. `announce` hears of each phase. */
export async function loadIsoData(
  baseUrl: string,
  application: Application,
  announce: (what: string) => void,
  upload?: Upload,
): Promise<LoadedTable[]> {
  announce('its log-in');
  const { access_token } = await signInMachine(baseUrl, application);
  return loadTables(createApi(baseUrl, access_token), isoTables, announce, upload);
}

/** `5046 subdivisions, 249 countries` */
export function describeTables(tables: readonly LoadedTable[]): string {
  return tables.map(({ name, rows }) => `${rows} ${name.toLowerCase()}`).join(', ');
}
