import type { Column } from '../../api/queries.ts';
import {
  bodyOf,
  type Entry,
  filledTwice,
  fitMapping,
  fits,
  forPattern,
  isForEditing,
  isNeedless,
  type Mapping,
  missingTargets,
  withLookup,
  withTarget,
} from './mapping.ts';

const entry = (source_column: string, target_column: string | null, rest: Partial<Entry> = {}): Entry => ({
  ...{ source_column, target_column, format: null, default: null, trim: false, lookup: false, value_map: null },
  ...{ otherwise: 'keep', round: null },
  ...rest,
});
const mapping = (...column_mappings: Entry[]): Mapping => ({
  ...{ date_style: 'ISO', decimal_separator: null, delimiter: ',', quote: null, has_header: true },
  column_mappings,
});
const columns = [
  { name: 'code', is_primary_key: true },
  { name: 'name', is_primary_key: false },
] as Column[];

describe('a mapping', () => {
  it('gets another target, without what was said about the one before', () => {
    const before = mapping(entry('Land', 'country', { lookup: 'name', trim: true }), entry('x', null));
    expect(withTarget(before, 'Land', 'name').column_mappings).toEqual([
      entry('Land', 'name', { trim: true }),
      entry('x', null),
    ]);
    expect(withLookup(before, 'x', true).column_mappings[1]).toEqual(entry('x', null, { lookup: true }));
  });

  it('must fill the key, and the code where rows say what to do', () => {
    expect(missingTargets(mapping(entry('a', 'name')), columns, 'full')).toEqual(['code']);
    expect(missingTargets(mapping(entry('a', 'code')), columns, 'incremental')).toEqual([]);
    expect(missingTargets(mapping(entry('a', 'code')), columns, 'incremental_with_delete')).toEqual([
      'svc_transaction_code',
    ]);
  });

  it('has a code only where rows say what to do', () => {
    const given = mapping(entry('svc_transaction_code', 'svc_transaction_code'));
    expect(forPattern(given, 'incremental_with_delete')).toEqual(given);
    expect(forPattern(given, 'full')).toEqual(mapping(entry('svc_transaction_code', null)));
  });

  it('knows workbooks that were made for editing', () => {
    expect(isForEditing(mapping(entry('svc_sk', null), entry('svc_version', null)))).toBe(true);
    expect(isForEditing(mapping(entry('svc_sk', null), entry('svc_version', 'version')))).toBe(false);
  });

  it('fills no column twice', () => {
    expect(filledTwice(mapping(entry('a', 'code'), entry('b', 'code'), entry('c', null), entry('d', null)))).toEqual([
      'code',
    ]);
  });
});

describe('a mapping that was used before', () => {
  const before = mapping(entry('Code', 'code'), entry('Land', 'country', { lookup: 'name' }));

  it('is fitted to the columns of the file; what it does not know is left out', () => {
    const guess = mapping(entry('code', null), entry('land', 'name'), entry('New', 'name'));
    expect(fits(guess, before)).toBe(true);
    expect(fitMapping(guess, { ...before, date_style: 'DMY' })).toEqual({
      ...mapping(entry('code', 'code'), entry('land', 'country', { lookup: 'name' }), entry('New', null)),
      date_style: 'DMY',
    });
  });

  it('does not fit a file that lacks one of its columns', () => {
    expect(fits(mapping(entry('Code', null)), before)).toBe(false);
    expect(fits(mapping(entry('Code', null)), mapping(entry('Code', null)))).toBe(false);
  });
});

describe('a mapping is needless', () => {
  it('when the names are equal and nothing else is said', () => {
    expect(isNeedless(mapping(entry('Code', 'code'), entry('svc_sk', null)), 'DMY')).toBe(true);
    expect(isNeedless({ ...mapping(entry('code', 'code')), date_style: 'DMY' }, 'DMY')).toBe(true);
  });

  it('but not when it says something', () => {
    for (const one of [
      mapping(entry('Code', 'name')),
      mapping(entry('code', 'code'), entry('Region', null)),
      mapping(entry('code', 'code', { trim: true })),
      mapping(entry('svc_transaction_code', null)),
      { ...mapping(entry('code', 'code')), date_style: 'MDY' as const },
      { ...mapping(entry('code', 'code')), decimal_separator: ',' as const },
    ])
      expect(isNeedless(one, 'ISO')).toBe(false);
  });
});

it('a mapping is saved without the columns of the system', () => {
  const given = mapping(entry('svc_sk', null), entry('svc_transaction_code', null), entry('x', null));
  expect(bodyOf(given).column_mappings.map(({ source_column }) => source_column)).toEqual([
    'svc_transaction_code',
    'x',
  ]);
});
