// PostgreSQL before 18 takes a line that holds nothing but \\. for the end of a CSV file and drops what follows without a word.
// Such a file is refused there instead.

/** Why a file couldn't even be cut into cells; a result of the load, not a failure of the call. */
export class UnreadableFile extends Error {}

const newline = 0x0a;
const mark = Buffer.from('\\.');

/** The same bytes; throws when a line is the end mark, wherever the chunks are cut. */
export async function* refuseEndMarks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // What the next chunk may complete: the last bytes so far, with a line end before the first.
  let tail = Buffer.from([newline]);
  for await (const chunk of chunks) {
    const seen = Buffer.concat([tail, chunk]);
    for (let at = seen.indexOf(mark); at !== -1; at = seen.indexOf(mark, at + 1))
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
