// Work that waits in the demo, so that a first look at the console shows a review: a change request
// with a conflict, and a file that was imported as a change request.
import { type Api, type Page, poll, upload as uploadHere } from '@almanac/api-client/api';
import type { Upload } from './load-tables.ts';

type Row = { svc_sk: number; svc_version: number };
type Import = { status: string };

const amendments = {
  title: 'Currencies by the latest amendments to ISO 4217',
  description: 'The Caribbean guilder replaces the Netherlands Antillean one, and Bulgaria has the euro.',
};
const places = {
  title: 'Regions of Kazakhstan from the statistics office',
  description: 'Imported from a file: the full names of regions, and Almaty the region apart from Almaty the city.',
};

/**
 * Creates the change requests and sends them for review. Repeatable: a request that exists already
 * is left as it is, unless it is a draft. `steward` proposes; `admin` changes a row that a proposal
 * changes, too.
 */
export async function ensureDemoRequests(
  { admin, steward }: { admin: Api; steward: Api },
  upload: Upload = uploadHere,
): Promise<void> {
  const { data: branches } = await admin.get<Page<{ id: number }>>('/branches?q=is_default:eq:true');
  const branchId = branches[0]?.id as number;
  const { data } = await admin.get<Page<{ title: string; status: string }>>('/change_requests?per_page=1000');
  const isSent = (title: string) => data.some((request) => request.title === title && request.status !== 'draft');
  await Promise.all([
    isSent(amendments.title) ? undefined : proposeAmendments(admin, steward, branchId),
    isSent(places.title) ? undefined : proposeFile(steward, branchId, upload),
  ]);
}

async function proposeAmendments(admin: Api, steward: Api, branch_id: number): Promise<void> {
  const table = { table_definition_key: 'currencies', branch_id };
  const [netherlands, bulgaria, cuba, comoros, venezuela] = (await Promise.all(
    ['ANG', 'BGN', 'CUC', 'KMF', 'VED'].map((code) => findRow(steward, 'currencies', branch_id, code)),
  )) as [Row, Row, Row, Row, Row];
  const update = (row: Row, name: string) => ({
    operation: 'update',
    id: row.svc_sk,
    version: row.svc_version,
    record: { name },
  });
  const remove = (row: Row) => ({ operation: 'delete', id: row.svc_sk, version: row.svc_version });
  const create = (code: string, numeric_code: string, name: string) => ({
    operation: 'create',
    record: { code, numeric_code, name, minor_units: 2 },
  });
  const { id } = await steward.post('/change_requests', { branch_id, change_request: amendments });
  await steward.post(`/change_requests/${id}/operations`, {
    ...table,
    operations: [
      create('XCG', '532', 'Caribbean Guilder'),
      create('XAD', '396', 'Arab Accounting Dinar'),
      update(comoros, 'Comorian Franc'),
      update(venezuela, 'Bolívar Digital'),
      remove(netherlands),
      remove(bulgaria),
      remove(cuba),
    ],
  });
  // Another person has changed the same cell since.
  await admin.patch(`/table_data/${venezuela.svc_sk}`, { ...table, record: { name: 'Digital Bolívar' } });
  await steward.post(`/change_requests/${id}/send_request`, {
    comment: 'Three codes are withdrawn; please look at the Venezuelan name.',
  });
}

async function proposeFile(steward: Api, branch_id: number, upload: Upload): Promise<void> {
  const { id } = await steward.post('/imports', { branch_id, correlation_code: 'demo-kazakhstan' });
  const { id: table, upload_url } = await steward.post(`/imports/${id}/tables`, {
    table_definition_key: 'subdivisions',
    pattern: 'incremental',
    dry_run: true,
  });
  await upload(upload_url, file);
  await steward.post(`/imports/${id}/upload_complete`);
  await poll(
    () => steward.get<Import>(`/imports/${id}`),
    ({ status }) => !/^(created|uploading|processing)$/.test(status),
  );
  const { change_request_id } = await steward.post(`/imports/${id}/tables/${table}/apply`, {
    as: 'change_request',
    ...places,
  });
  await steward.post(`/change_requests/${change_request_id}/send_request`, {});
}

const file = `code,country,name,parent_code
KZ-10,KZ,Abay oblysy,
KZ-19,KZ,Almaty oblysy,
KZ-33,KZ,Zhetisū oblysy,
KZ-62,KZ,Ulytaū oblysy,
KZ-75,KZ,Almaty qalasy,
`;

async function findRow(api: Api, table: string, branchId: number, code: string): Promise<Row> {
  const path = `/table_data?table_definition_key=${table}&branch_id=${branchId}&q=code:eq:${code}`;
  const { data } = await api.get<Page<Row>>(path);
  const [row] = data;
  if (!row) throw new Error(`${table} has no row ${code}.`);
  return row;
}
