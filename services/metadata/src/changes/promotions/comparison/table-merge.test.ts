import fc from 'fast-check';
import type { ColumnStructure, TableStructure } from '../../../table-definitions/table-structure.ts';
import { diffStructures } from './structure-diff.ts';
import { columnAttributes, type Decide, isSameTable, mergeTable } from './table-merge.ts';

const column = (lineage_id: number, name: string, changes: Partial<ColumnStructure> = {}): ColumnStructure => ({
  lineage_id,
  name,
  data_type: 'string',
  length: 255,
  scale: null,
  is_primary_key: false,
  is_required: false,
  foreign_key_table_key: null,
  is_hierarchy: false,
  valid_values: null,
  description: null,
  position: lineage_id,
  ...changes,
});

const base: TableStructure = {
  key: 'countries',
  name: 'Countries',
  description: null,
  domain_id: 1,
  load_type: 'manual',
  lookup_display_lineage_id: null,
  columns: [column(1, 'code', { is_primary_key: true, is_required: true }), column(2, 'name'), column(3, 'area')],
};

const unresolved: Decide = () => undefined;
const forSource: Decide = () => 'source';
const forTarget: Decide = () => 'target';
const change = (lineage: number, changes: Partial<ColumnStructure>, table = base): TableStructure => ({
  ...table,
  columns: table.columns.map((each) => (each.lineage_id === lineage ? { ...each, ...changes } : each)),
});
const without = (lineage: number, table = base): TableStructure => ({
  ...table,
  columns: table.columns.filter(({ lineage_id }) => lineage_id !== lineage),
});
const withColumn = (added: ColumnStructure, table = base): TableStructure => ({
  ...table,
  columns: [...table.columns, added],
});
const namesOf = (table: TableStructure | undefined) => table?.columns.map(({ name }) => name);

describe('what one side changed', () => {
  it('is merged, attribute by attribute, with the changes of the target', () => {
    const source = { ...change(2, { name: 'title', length: 80 }), description: 'ISO 3166' };
    const target = { ...change(2, { is_required: true, valid_values: 'A|B' }), name: 'Nations' };
    const { merged, conflicts } = mergeTable({ base, source, target }, unresolved);
    expect(conflicts).toEqual([]);
    expect(merged).toMatchObject({ name: 'Nations', description: 'ISO 3166' });
    expect(merged?.columns[1]).toMatchObject({ name: 'title', length: 80, is_required: true, valid_values: 'A|B' });
  });

  it('is no conflict when both changed it alike', () => {
    const both = change(3, { data_type: 'decimal', length: 12, scale: 2 });
    expect(mergeTable({ base, source: both, target: both }, unresolved)).toEqual({
      merged: { ...both, columns: both.columns.map((each, index) => ({ ...each, position: index + 1 })) },
      conflicts: [],
    });
  });

  it('may be a new column, which follows the same column as there', () => {
    const source = withColumn(column(10, 'iso3', { position: 2 }));
    source.columns = [1, 10, 2, 3].map(
      (id) => source.columns.find((each) => each.lineage_id === id) as ColumnStructure,
    );
    const target = withColumn(column(20, 'capital'));
    const { merged } = mergeTable({ base, source, target }, unresolved);
    expect(namesOf(merged)).toEqual(['code', 'iso3', 'name', 'area', 'capital']);
    expect(merged?.columns.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
  });

  it('may be the deletion of a column, also as the lookup display column', () => {
    const shown = { ...base, lookup_display_lineage_id: 2 };
    const { merged, conflicts } = mergeTable({ base: shown, source: without(2, shown), target: shown }, unresolved);
    expect(namesOf(merged)).toEqual(['code', 'area']);
    expect(merged?.lookup_display_lineage_id).toBeNull();
    expect(conflicts).toEqual([]);
    expect(namesOf(mergeTable({ base, source: base, target: without(2) }, unresolved).merged)).toEqual([
      'code',
      'area',
    ]);
  });

  it('may be the order of the columns', () => {
    const turned = { ...base, columns: base.columns.toReversed() };
    expect(namesOf(mergeTable({ base, source: turned, target: base }, unresolved).merged)).toEqual([
      'area',
      'name',
      'code',
    ]);
    const other = { ...base, columns: [2, 1, 3].map((id) => base.columns[id - 1] as ColumnStructure) };
    const { conflicts } = mergeTable({ base, source: turned, target: other }, unresolved);
    expect(conflicts).toMatchObject([{ column: null, attribute: 'column_order', source: ['area', 'name', 'code'] }]);
  });

  it('makes a key column required, whichever side made it one', () => {
    const { merged } = mergeTable({ base, source: change(2, { is_primary_key: true }), target: base }, unresolved);
    expect(merged?.columns[1]).toMatchObject({ is_primary_key: true, is_required: true });
  });
});

describe('a conflict', () => {
  const source = change(2, { length: 80 });
  const target = change(2, { length: 100 });
  const conflict = { table: 'countries', column: 'name', attribute: 'length', base: 255, source: 80, target: 100 };

  it('is one attribute changed to different values; while it is open, the target’s stays', () => {
    const { merged, conflicts } = mergeTable({ base, source, target }, unresolved);
    expect(conflicts).toEqual([{ ...conflict, resolution: null }]);
    expect(merged?.columns[1]?.length).toBe(100);
  });

  it('is resolved for one side', () => {
    for (const [decide, resolution, length] of [
      [forSource, 'source', 80],
      [forTarget, 'target', 100],
    ] as const) {
      const { merged, conflicts } = mergeTable({ base, source, target }, decide);
      expect(conflicts).toEqual([{ ...conflict, resolution }]);
      expect(merged?.columns[1]?.length).toBe(length);
    }
  });

  it('is one side deleting a column that the other changed', () => {
    const exists = { table: 'countries', column: 'name', attribute: 'exists', base: true };
    const deleted = { base, source: without(2), target };
    expect(mergeTable(deleted, unresolved).conflicts).toMatchObject([{ ...exists, source: false, target: true }]);
    expect(namesOf(mergeTable(deleted, unresolved).merged)).toEqual(['code', 'name', 'area']);
    expect(namesOf(mergeTable(deleted, forSource).merged)).toEqual(['code', 'area']);
    const changed = { base, source, target: without(2) };
    expect(mergeTable(changed, unresolved).conflicts).toMatchObject([{ ...exists, source: true, target: false }]);
    expect(namesOf(mergeTable(changed, unresolved).merged)).toEqual(['code', 'area']);
    expect(namesOf(mergeTable(changed, forSource).merged)).toEqual(['code', 'name', 'area']);
  });

  it('is every difference of two tables without a known base', () => {
    const { conflicts } = mergeTable(
      { base: undefined, source, target: withColumn(column(9, 'own'), target) },
      unresolved,
    );
    expect(conflicts).toMatchObject([{ column: 'name', attribute: 'length', base: null, source: 80, target: 100 }]);
  });
});

describe('a table that is deleted on the source', () => {
  it('is deleted on the target too, unless it was changed there', () => {
    expect(mergeTable({ base, source: undefined, target: base }, unresolved)).toEqual({
      merged: undefined,
      conflicts: [],
    });
    const target = change(2, { length: 1 });
    const { merged, conflicts } = mergeTable({ base, source: undefined, target }, unresolved);
    expect(conflicts).toMatchObject([{ column: null, attribute: 'exists', base: true, source: false, target: true }]);
    expect(merged).toBe(target);
    expect(mergeTable({ base, source: undefined, target }, forSource).merged).toBeUndefined();
  });
});

describe('the difference', () => {
  it('names renamed, new and deleted columns by lineage, and attributes with both values', () => {
    const to = withColumn(
      column(9, 'iso3', { is_required: true }),
      without(3, change(2, { name: 'title', valid_values: 'A|B' })),
    );
    expect(diffStructures(base, to)).toEqual({
      change: 'modified',
      attributes: [],
      columns: [
        { name: 'code', change: 'unchanged', attributes: [] },
        {
          name: 'title',
          change: 'modified',
          attributes: [
            { name: 'name', from: 'name', to: 'title' },
            { name: 'valid_values', from: [], to: ['A', 'B'] },
          ],
        },
        {
          name: 'iso3',
          change: 'new',
          attributes: [
            { name: 'name', from: null, to: 'iso3' },
            { name: 'data_type', from: null, to: 'string' },
            { name: 'length', from: null, to: 255 },
            { name: 'is_required', from: null, to: true },
          ],
        },
        { name: 'area', change: 'deleted', attributes: [] },
      ],
    });
  });

  it('is empty without a change, all of a new table, and only the deletion of a deleted one', () => {
    expect(diffStructures(base, base).change).toBe('unchanged');
    expect(diffStructures(undefined, base)).toMatchObject({ change: 'new', columns: Array(3).fill({ change: 'new' }) });
    expect(diffStructures(base, undefined)).toEqual({ change: 'deleted', attributes: [], columns: [] });
    expect(diffStructures(undefined, undefined).change).toBe('unchanged');
  });
});

// Two histories of edits that start from the same base.
type Edit = (table: TableStructure, fresh: number) => TableStructure;
const lineageArbitrary = fc.integer({ min: 1, max: 4 });
const columnEdit: fc.Arbitrary<Edit> = fc
  .tuple(
    lineageArbitrary,
    fc.oneof(
      fc.record({ name: fc.constantFrom('one', 'two', 'three') }),
      fc.record({ length: fc.constantFrom(10, 20, null) }),
      fc.record({ data_type: fc.constantFrom('text', 'integer', 'string') }),
      fc.record({ is_required: fc.boolean() }),
      fc.record({ valid_values: fc.constantFrom('A', 'A|B', null) }),
      fc.record({ foreign_key_table_key: fc.constantFrom('regions', null) }),
    ),
  )
  .map(
    ([lineage, changes]): Edit =>
      (table) => {
        const required = lineage === 1 ? { is_required: true } : {}; // the key column
        return change(lineage, { ...changes, ...required }, table);
      },
  );
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 4, arbitrary: columnEdit },
  lineageArbitrary.map(
    (lineage): Edit =>
      (table) =>
        without(lineage, table),
  ),
  fc.constant<Edit>((table, fresh) => withColumn(column(fresh, `new_${fresh}`), table)),
  fc.constantFrom('Countries', 'Nations', 'States').map(
    (name): Edit =>
      (table) => ({ ...table, name }),
  ),
  fc.integer({ min: 1, max: 3 }).map(
    (at): Edit =>
      (table) => ({
        ...table,
        columns: [...table.columns.slice(at), ...table.columns.slice(0, at)],
      }),
  ),
);
const historyFrom = (first: number) =>
  fc
    .array(edit, { maxLength: 6 })
    .map((edits) => edits.reduce((table, step, index) => step(table, first + index), base));
const histories = fc.record({
  source: historyFrom(100),
  target: historyFrom(200),
  decisions: fc.func(fc.constantFrom('source' as const, 'target' as const)),
});

describe('for any two histories', () => {
  const check = (property: (given: { source: TableStructure; target: TableStructure; decide: Decide }) => void) =>
    fc.assert(
      fc.property(histories, ({ source, target, decisions }) =>
        property({ source, target, decide: ({ column, attribute }) => decisions(`${column} ${attribute}`) }),
      ),
    );
  const sorted = (table: TableStructure) => table.columns.map(({ lineage_id }) => lineage_id).sort((a, b) => a - b);
  const columnOf = (table: TableStructure, lineage: number) =>
    table.columns.find((each) => each.lineage_id === lineage);

  it('an untouched source changes nothing, and an untouched target becomes the source', () => {
    check(({ source, target }) => {
      const nothing = mergeTable({ base, source: base, target }, unresolved);
      expect(nothing.conflicts).toEqual([]);
      expect(isSameTable(nothing.merged as TableStructure, target)).toBe(true);
      const all = mergeTable({ base, source, target: base }, unresolved);
      expect(all.conflicts).toEqual([]);
      expect(sorted(all.merged as TableStructure)).toEqual(sorted(source));
      for (const each of source.columns)
        expect(columnOf(all.merged as TableStructure, each.lineage_id)).toMatchObject({
          name: each.name,
          length: each.length,
        });
    });
  });

  it('each attribute is the source’s or the target’s where only that changed it, and as resolved where both did', () => {
    check(({ source, target, decide }) => {
      const { merged, conflicts } = mergeTable({ base, source, target }, decide);
      for (const each of merged?.columns ?? []) {
        const [was, mine, other] = [base, source, target].map((side) => columnOf(side, each.lineage_id));
        if (!was || !mine || !other) continue;
        for (const attribute of columnAttributes) {
          if (attribute === 'is_required') continue; // follows the key
          const named = { column: other.name, attribute };
          const conflict = conflicts.find((found) => found.column === other.name && found.attribute === attribute);
          const bothChanged = mine[attribute] !== was[attribute] && other[attribute] !== was[attribute];
          if (bothChanged && mine[attribute] !== other[attribute]) expect(conflict).toMatchObject(named);
          const side =
            mine[attribute] === was[attribute]
              ? other
              : bothChanged && conflict?.resolution === 'target'
                ? other
                : mine;
          expect(each[attribute]).toEqual(side[attribute]);
        }
      }
    });
  });

  it('promoting again changes nothing more, and promoting back makes both equal', () => {
    check(({ source, target, decide }) => {
      const { merged } = mergeTable({ base, source, target }, decide);
      const again = mergeTable({ base: source, source, target: merged }, unresolved);
      expect(again.conflicts).toEqual([]);
      expect(isSameTable(again.merged as TableStructure, merged as TableStructure)).toBe(true);
      const back = mergeTable({ base: source, source: merged, target: source }, unresolved);
      expect(back.conflicts).toEqual([]);
      expect(sorted(back.merged as TableStructure)).toEqual(sorted(merged as TableStructure));
      for (const each of (merged as TableStructure).columns)
        expect({ ...columnOf(back.merged as TableStructure, each.lineage_id), position: 0 }).toEqual({
          ...each,
          position: 0,
        });
    });
  });

  it('the difference of a merge and itself is empty, and an empty difference means no change', () => {
    check(({ source, target, decide }) => {
      const merged = mergeTable({ base, source, target }, decide).merged as TableStructure;
      expect(diffStructures(merged, merged).change).toBe('unchanged');
      if (diffStructures(target, merged).change === 'unchanged') expect(isSameTable(target, merged)).toBe(true);
    });
  });
});

describe('hierarchies', () => {
  const withParent = (changes: Partial<ColumnStructure> = {}): TableStructure => ({
    ...base,
    columns: [...base.columns, column(4, 'parent', { foreign_key_table_key: 'countries', ...changes })],
  });
  const merged = (sides: { base?: TableStructure; source: TableStructure; target: TableStructure }) => {
    const { merged, conflicts } = mergeTable({ base: withParent(), ...sides }, () => undefined);
    const parent = merged?.columns.find(({ name }) => name === 'parent');
    return { key: parent?.foreign_key_table_key, is_hierarchy: parent?.is_hierarchy, conflicts };
  };

  it('are merged like other attributes', () => {
    const on = withParent({ is_hierarchy: true });
    expect(merged({ source: on, target: withParent() })).toMatchObject({ is_hierarchy: true, conflicts: [] });
    expect(merged({ base: on, source: withParent(), target: on })).toMatchObject({
      is_hierarchy: false,
      conflicts: [],
    });
  });

  it('end where the other side has changed or deleted the reference', () => {
    const on = withParent({ is_hierarchy: true });
    for (const key of [null, 'regions']) {
      const elsewhere = withParent({ foreign_key_table_key: key });
      expect(merged({ source: on, target: elsewhere })).toEqual({ key, is_hierarchy: false, conflicts: [] });
      expect(merged({ source: elsewhere, target: on })).toEqual({ key, is_hierarchy: false, conflicts: [] });
    }
  });

  it('are absent in a base that an earlier release stored', () => {
    const stored = structuredClone(withParent());
    for (const each of stored.columns) Reflect.deleteProperty(each, 'is_hierarchy');
    expect(isSameTable(stored, withParent())).toBe(true);
    const on = withParent({ is_hierarchy: true });
    expect(merged({ base: stored, source: on, target: withParent() })).toMatchObject({
      is_hierarchy: true,
      conflicts: [],
    });
    const deleted = mergeTable({ base: stored, source: base, target: withParent() }, () => undefined);
    expect([deleted.merged?.columns.length, deleted.conflicts]).toEqual([3, []]);
  });
});
