import { rejectCopyTerminator } from './copy-terminator.ts';

async function pass(text: string, size: number): Promise<string> {
  async function* cut() {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const parts: Buffer[] = [];
  for await (const chunk of rejectCopyTerminator(cut())) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

describe.each([1, 2, 3, 5, 1000])('in chunks of %d bytes', (size) => {
  it.each(['a,b\n\\.\nc,d\n', '\\.\n', 'a\n\\.', 'a\r\n\\.\r\nb\r\n', 'a\n\\.\r'])('refuses %j', async (text) => {
    await expect(pass(text, size)).rejects.toThrow(/end of the file/);
  });

  it.each(['a,b\n', '', '\\.,b\n', 'a,\\.\nb\n', 'a\n"\\."\n', '\\..\n', 'a\n\\'])(
    'lets %j pass unchanged',
    async (text) => {
      expect(await pass(text, size)).toBe(text);
    },
  );
});
