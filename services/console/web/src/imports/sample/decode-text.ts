/**
 * The text of the beginning of a file: UTF-16 by its byte order mark, UTF-8 where it is that, else
 * Windows-1252, as the system reads it. A character that the end cuts is left out.
 */
export function decodeText(bytes: Uint8Array<ArrayBuffer>): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes, { stream: true });
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes, { stream: true });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
