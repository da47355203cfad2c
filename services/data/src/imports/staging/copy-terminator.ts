// PostgreSQL before 18 takes a line that holds nothing but \\. for the end of a CSV file and
// ignores the rest without an error. Such a file is rejected instead.

/** A file could not be read as rows. A result of the load, not a failure of the call. */
export class UnreadableFile extends Error {}

const newline = 0x0a;
const terminator = Buffer.from('\\.');

/** The same bytes; throws when a line is the terminator, wherever the chunks are cut. */
export async function* rejectCopyTerminator(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // The last bytes so far, which the next chunk may complete to a terminator, after a line end
  // before the first line.
  let tail = Buffer.from([newline]);
  for await (const chunk of chunks) {
    const seen = Buffer.concat([tail, chunk]);
    for (let at = seen.indexOf(terminator); at !== -1; at = seen.indexOf(terminator, at + 1))
      if (isWholeLine(seen, at)) throw refusal();
    tail = seen.subarray(-4);
    yield chunk;
  }
  if (/[\r\n]\\\.\r?$/.test(tail.toString('latin1'))) throw refusal();
}

const isLineEnd = (byte: number | undefined) => byte === newline || byte === 0x0d;
const isWholeLine = (bytes: Buffer, at: number) => isLineEnd(bytes[at - 1]) && isLineEnd(bytes[at + 2]);

function refusal(): UnreadableFile {
  return new UnreadableFile(
    'A line of the file is \\. alone, which this version of PostgreSQL takes for the end of the file.',
  );
}
