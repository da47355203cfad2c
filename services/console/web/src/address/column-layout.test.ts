import { type ColumnLayout, readLayout, writeLayout } from './column-layout.ts';

describe('the layout of columns in an address', () => {
  it('comes back as it was written', () => {
    const layout: ColumnLayout = [
      { column: 'code', pinned: 'none' },
      { column: 'a,b:c', width: 240, pinned: 'right' },
      { column: 'area', hidden: true },
    ];
    const text = writeLayout(layout);
    expect(text).toBe('code:none,a%2Cb%3Ac:240:right,area:hidden');
    expect(readLayout(text)).toEqual(layout);
  });

  it('has no member when the columns are as usual', () => {
    expect([writeLayout([]), readLayout(undefined), readLayout('')]).toEqual([undefined, [], []]);
  });

  it('leaves out what cannot be read, and a column that comes twice', () => {
    expect(readLayout('name:-3:top,,%E0%A4%A,name:90,code:999999')).toEqual([{ column: 'name' }, { column: 'code' }]);
  });
});
