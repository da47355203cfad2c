import { matchEntries } from './matching.ts';

const entries = [
  { id: '1', name: 'Subdivisions', note: 'subdivisions · ISO standards' },
  { id: '2', name: 'Countries', note: 'countries · ISO standards' },
  { id: '3', name: 'Country groups', note: 'groups · Sales' },
  { id: '4', name: 'São Tomé offices', note: 'offices · Sales' },
];
const found = (typed: string) => matchEntries(entries, typed).map(({ id }) => id);

describe('the palette', () => {
  it('shows all in their order before one types', () => {
    expect(found('  ')).toEqual(['1', '2', '3', '4']);
  });

  it('puts what begins with the text first', () => {
    expect(found('countr')).toEqual(['2', '3']);
    expect(found('groups')).toEqual(['3']);
  });

  it('finds by every word, in name or note', () => {
    expect(found('iso sub')).toEqual(['1']);
    expect(found('sales country')).toEqual(['3']);
    expect(found('iso nothing')).toEqual([]);
  });

  it('ignores case and accents, and finds letters in their order', () => {
    expect(found('SAO')).toEqual(['4']);
    expect(found('cntrs')).toContain('2');
  });

  it('puts letters that merely come in order last', () => {
    const close = [
      { id: 'far', name: 'Sum of bids' },
      { id: 'near', name: 'A subd' },
    ];
    expect(matchEntries(close, 'subd').map(({ id }) => id)).toEqual(['near', 'far']);
  });
});
