import { givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import type { ServedConsole } from './served-console.ts';

/** A request for new rows, made and sent by an application. */
export async function givenRequest({ account }: ServedConsole, count: number): Promise<{ table: number; id: number }> {
  const api = await account.person();
  const columns = [
    { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
    { name: 'name', data_type: 'string', length: 40 },
  ];
  const { id: table } = await givenDeployedTable(api, { name: `Cities ${unique()}`, columns });
  const { data: branches } = await api.get('/branches');
  const branch_id = branches[0].id;
  const machine = await account.machine();
  const change_request = { title: 'Monthly correction' };
  const { id } = await machine.post('/change_requests', { branch_id, change_request });
  const operations = Array.from({ length: count }, (_, place) => ({
    operation: 'create',
    record: { code: `N${place}`, name: `City ${place}` },
  }));
  await machine.post(`/change_requests/${id}/operations`, { table_definition_id: table, operations });
  await machine.post(`/change_requests/${id}/send_request`, {});
  return { table, id };
}
