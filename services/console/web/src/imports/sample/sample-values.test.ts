import { sampleValues } from './sample-values.ts';

const style = { delimiter: ';', quote: null, has_header: true };

describe('the values of a column', () => {
  it('are the first different ones that are not empty', () => {
    const text = ' code ;name\n1;\n1;x\n2;y\n3;z\n4;\n';
    expect(sampleValues({ kind: 'text', text }, 'csv', style)).toEqual(
      new Map([
        ['code', ['1', '2', '3']],
        ['name', ['x', 'y', 'z']],
      ]),
    );
  });

  it('are by places where there is no header', () => {
    const values = sampleValues({ kind: 'text', text: 'DE;1\n' }, 'csv', { ...style, has_header: false });
    expect([...values]).toEqual([
      ['1', ['DE']],
      ['2', ['1']],
    ]);
  });

  it('are the properties of records', () => {
    const values = sampleValues({ kind: 'text', text: '{"a":1,"b":{"c":2}}\n{"a":null}' }, 'ndjson', style);
    expect([...values]).toEqual([
      ['a', ['1']],
      ['b', ['{"c":2}']],
    ]);
  });

  it('are none of a file that only the system reads', () => {
    expect(sampleValues({ kind: 'hidden' }, 'parquet', style).size).toBe(0);
  });
});
