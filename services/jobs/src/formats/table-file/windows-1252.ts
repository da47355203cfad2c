// Windows-1252, in which western European spreadsheet programs save CSV without declaring it.
import { fileError } from './file-error.ts';

// 0x80 to 0x9f; five of them are no character. The others are those of Latin-1.
const high = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const none = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** The bytes as UTF-8. `at` is their offset in the file, for the error about an undefined byte. */
export function decodeWindows1252(bytes: Uint8Array, at: number): Uint8Array {
  const bad = bytes.findIndex((byte) => none.has(byte));
  if (bad >= 0)
    throw fileError(
      `The file is not valid UTF-8, nor Windows-1252 (byte ${at + bad + 1}); save it as UTF-8, or as UTF-16 with a byte order mark.`,
    );
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  return Buffer.from(text.replace(/[\u0080-\u009f]/g, (character) => high[character.charCodeAt(0) - 0x80] as string));
}
