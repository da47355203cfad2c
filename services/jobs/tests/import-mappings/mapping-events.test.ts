// What becomes of mappings when definitions are cloned or removed.
import { eventually } from '@almanac/testkit/eventually';
import { badPayloads } from '@almanac/testkit/messaging/bad-payloads';
import { call, entry, jobs, make, useMappings } from './mappings.ts';

useMappings();

describe('a cloned definition', () => {
  const cloned = 'metadata.table_definition.cloned';
  const mappingsOf = async (id: number) => (await call('GET', `?table_definition_id=${id}`)).body.data;

  it('gets the mappings of its source, once, and keeps its own', async () => {
    const [source, clone, next] = [13, 900, 901];
    const style = { delimiter: ';', decimal_separator: ',', has_header: false, quote: 'none', encoding: 'utf-8' };
    const column_mappings = [{ ...entry, source_column: '1', target_column: 'code', trim: true, default: 'x' }];
    await make({ table_definition_id: source, name: 'Bank', is_default: true, ...style, column_mappings });
    await make({ table_definition_id: source, name: 'OTHER', date_style: 'DMY' });
    const made = jobs.context.prisma.import_mapping;
    await made.create({ data: { account_id: 1, table_definition_id: clone, name: 'Other', is_default: true } });

    const payload = { account_id: 1, table_definition_id: clone, branch_id: 5, source_id: source };
    const message = await jobs.announce(cloned, payload);
    await jobs.announce(cloned, payload, message);
    await jobs.announce(cloned, { ...payload, account_id: 2, table_definition_id: next });
    await jobs.announce(cloned, { ...payload, table_definition_id: next });
    await eventually(async () => expect(await mappingsOf(next)).toHaveLength(2));
    expect(await mappingsOf(next)).toMatchObject([
      { name: 'Bank', is_default: true, ...style, date_style: 'ISO', column_mappings },
      { name: 'OTHER', is_default: false, date_style: 'DMY', column_mappings: [] },
    ]);
    await eventually(async () => expect(await mappingsOf(clone)).toHaveLength(2));
    expect(await mappingsOf(clone)).toMatchObject([
      { name: 'Other', is_default: true, date_style: 'ISO' },
      { name: 'Bank', is_default: false, delimiter: ';' },
    ]);
    expect(await made.count({ where: { account_id: 2 } })).toBe(0);
  });
});

describe('a malformed event', () => {
  it.each([
    ['jobs.cloned_definitions', 'metadata.table_definition.cloned'],
    ['jobs.deployed_tables', 'metadata.table_definition.deployed'],
    ['jobs.mail', 'metadata.mail.requested'],
  ])('becomes a dead letter of %s at once', async (queue, type) => {
    const before = await jobs.deadLetters(queue);
    for (const payload of badPayloads) await jobs.announce(type, payload);
    await eventually(async () => expect(await jobs.deadLetters(queue)).toBe(before + badPayloads.length));
    const source_id = jobs.neighbours.addTable({ key: queue }).table_definition_id;
    await make({ table_definition_id: source_id, name: `Of ${queue}` });
    const payload = { account_id: 1, source_id, table_definition_id: 951 };
    await jobs.announce('metadata.table_definition.cloned', payload);
    await eventually(async () =>
      expect((await call('GET', '?table_definition_id=951')).body.data).toContainEqual(
        expect.objectContaining({ name: `Of ${queue}` }),
      ),
    );
  });
});
