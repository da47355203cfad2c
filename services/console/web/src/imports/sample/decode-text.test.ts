import { decodeText } from './decode-text.ts';

const bytes = (...values: number[]) => new Uint8Array(values);

describe('the text of a file', () => {
  it('is UTF-8 where it is that, without a byte order mark', () => {
    expect(decodeText(new TextEncoder().encode('\ufeffStraße'))).toBe('Straße');
  });

  it('may end in the middle of a character', () => {
    expect(decodeText(new TextEncoder().encode('aß').slice(0, 2))).toBe('a');
  });

  it('is Windows-1252 otherwise', () => {
    expect(decodeText(bytes(0x53, 0x74, 0x72, 0x61, 0xdf, 0x65, 0x80))).toBe('Straße€');
  });

  it('is UTF-16 with its mark, in both orders', () => {
    expect(decodeText(bytes(0xff, 0xfe, 0x61, 0x00, 0xdf, 0x00))).toBe('aß');
    expect(decodeText(bytes(0xfe, 0xff, 0x00, 0x61, 0x00, 0xdf))).toBe('aß');
  });
});
