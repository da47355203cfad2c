// Tables whose rows are read, upserted and deleted by their primary key.
import { type ColumnInput, deploy } from '../../given.ts';
import { nextId } from '../../merges/row-merges.ts';
import { net } from '../../running-data.ts';

export const code: ColumnInput = { name: 'code', length: 10, is_primary_key: true };
export const usual: ColumnInput[] = [code, { name: 'name', length: 20 }, { name: 'size', data_type: 'integer' }];

export async function givenTable(columns = usual, more: { load_type?: string } = {}): Promise<number> {
  const id = nextId();
  await deploy(net, [{ id, columns, ...more }]);
  return id;
}

export const path = '/api/v1/table_data/by_key';
export const query = (table: number, key: Record<string, string>, more = '') => {
  const parts = Object.entries(key).map(
    ([name, text]) => `key[${encodeURIComponent(name)}]=${encodeURIComponent(text)}`,
  );
  return `${path}?table_definition_id=${table}&${parts.join('&')}${more}`;
};
export const find = (table: number, key: Record<string, string>, more = '') => net.call('GET', query(table, key, more));
export const put = (table: number, record: object, headers = {}, call = net.call) =>
  call('PUT', path, { table_definition_id: table, record }, headers);
export const drop = (table: number, key: Record<string, string>, headers = {}) =>
  net.call('DELETE', query(table, key), undefined, headers);
export const batch = (table: number, operations: object[], headers = {}) =>
  net.call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations }, headers);
export const upsert = (record: object) => ({ operation: 'upsert', record });
export const liveRows = (table: number) => net.query(`select * from b_1.t_${table} where svc_live order by svc_sk`);
