import { JsonText, stringifyWithParts } from './json-text.ts';

describe('JSON with rendered parts', () => {
  it('holds each part as it is, whatever its digits and characters', () => {
    const record = '{"n":9007199254740993,"d":1.50,"t":"$& $1 \\"x\\""}';
    const value = { a: [1, { current: new JsonText(record) }], b: new JsonText(Buffer.from('["é"]')), c: 'x' };
    expect(stringifyWithParts(value)).toBe(`{"a":[1,{"current":${record}}],"b":["é"],"c":"x"}`);
  });

  it('without one is what JSON.stringify makes', () => {
    const value = { a: [1, null, 'x'], b: { c: undefined, d: true } };
    expect(stringifyWithParts(value)).toBe(JSON.stringify(value));
  });
});
