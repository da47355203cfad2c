// Makes the cells of text columns safe for spreadsheet programs: a cell that would run as a formula
// gets an apostrophe in front, and so does one that begins with an apostrophe, so that removing one
// restores the value. Numbers stay as they are.
const quote = 0x22;
const lineFeed = 0x0a;
const apostrophe = 0x27;
// = + - @ TAB CR and the apostrophe itself
const dangerous = new Set([0x3d, 0x2b, 0x2d, 0x40, 0x09, 0x0d, apostrophe]);
// The full-width = + - @ are U+FF1D U+FF0B U+FF0D U+FF20: EF BC 9D, 8B, 8D, A0.
const fullWidth = new Set([0x9d, 0x8b, 0x8d, 0xa0]);

/**
 * Guards CSV written by PostgreSQL (comma, LF, doubled quotes). `guarded` says for each column
 * whether it is text.
 */
export async function* guardCells(
  source: AsyncIterable<Uint8Array>,
  guarded: readonly boolean[],
): AsyncGenerator<Uint8Array> {
  const guard = new CellGuard(guarded);
  for await (const chunk of source) yield guard.pass(chunk);
  yield guard.end();
}

class CellGuard {
  private readonly guarded: readonly boolean[];
  private column = 0;
  private inQuotes = false;
  // Position in a cell: at its start, after its opening quote, at the first or second byte of a
  // possible full-width sign, or further.
  private state: 'start' | 'opened' | 'sign1' | 'sign2' | 'inside' = 'start';

  constructor(guarded: readonly boolean[]) {
    this.guarded = guarded;
  }

  pass(chunk: Uint8Array): Uint8Array {
    // A byte gains at most one apostrophe; a sign held back from the last chunk adds three bytes.
    const out = Buffer.allocUnsafe(chunk.length * 2 + 4);
    let at = 0;
    const put = (byte: number) => {
      out[at] = byte;
      at += 1;
    };
    for (const byte of chunk) {
      if (this.state === 'sign1' || this.state === 'sign2') {
        if (this.state === 'sign1' && byte === 0xbc) {
          this.state = 'sign2';
          continue;
        }
        const second = this.state === 'sign2';
        if (second && fullWidth.has(byte)) put(apostrophe);
        put(0xef);
        if (second) put(0xbc);
        this.state = 'inside';
        put(byte); // a byte inside a character: never a quote, comma or line end
        continue;
      }
      if (byte === quote) {
        this.inQuotes = !this.inQuotes;
        // Two quotes at the start are an empty cell or a quote as its first character.
        this.state = this.state === 'start' ? 'opened' : 'inside';
        put(byte);
        continue;
      }
      if (!this.inQuotes && (byte === 0x2c || byte === lineFeed)) {
        this.column = byte === lineFeed ? 0 : this.column + 1;
        this.state = 'start';
        put(byte);
        continue;
      }
      if (this.state !== 'inside' && this.guarded[this.column]) {
        if (byte === 0xef) {
          this.state = 'sign1';
          continue;
        }
        if (dangerous.has(byte)) put(apostrophe);
      }
      this.state = 'inside';
      put(byte);
    }
    return out.subarray(0, at);
  }

  end(): Uint8Array {
    if (this.state === 'sign1') return Uint8Array.of(0xef);
    return this.state === 'sign2' ? Uint8Array.of(0xef, 0xbc) : new Uint8Array(0);
  }
}
