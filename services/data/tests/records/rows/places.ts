// Countries and their places: a table of each type, which refers to another.
import { create, deploy } from '../../given.ts';
import { net, useData } from '../../running-data.ts';

export const usePlaces = () =>
  useData(async () => {
    await deploy(net, [
      {
        id: 1,
        key: 'countries',
        name: 'Countries',
        columns: [
          { name: 'code', length: 2, is_primary_key: true },
          { name: 'name', length: 20, is_required: true },
        ],
      },
      {
        id: 2,
        key: 'places',
        name: 'Places',
        columns: [
          { name: 'country', length: 2, is_primary_key: true, foreign_key_table_id: 1 },
          { name: 'number', data_type: 'integer', is_primary_key: true },
          { name: 'kind', valid_values: ['city', 'a|b', 'Town'] },
          { name: 'area', data_type: 'decimal', length: 20, scale: 2 },
          { name: 'big', data_type: 'bigint' },
          { name: 'founded', data_type: 'date' },
          { name: 'seen_at', data_type: 'datetime' },
          { name: 'opens', data_type: 'time' },
          { name: 'open', data_type: 'boolean' },
          { name: 'tag', data_type: 'uuid' },
          { name: 'extra', data_type: 'json' },
          { name: 'ratio', data_type: 'double' },
          { name: 'note', data_type: 'text' },
        ],
      },
    ]);
    await create(net, 1, { code: 'CH', name: 'Switzerland' });
    await create(net, 1, { code: 'DE', name: 'Germany' });
  });

export const full = {
  country: 'CH',
  number: 1,
  kind: 'a|b',
  area: '12345678901234567.89',
  big: '9223372036854775807',
  founded: '2024-02-29',
  seen_at: '2024-01-01T02:00:00.5+02:00',
  opens: '07:30',
  open: true,
  tag: '0F8FAD5B-D9CB-469F-A165-70867728950E',
  extra: { a: [1, 'x', null] },
  ratio: 0.1,
  note: 'line\n"two" 😀',
};
