import { curlCommand } from './curl-command.ts';

it('a shell reads the address and the body as they are, quotes too, and puts in the token', () => {
  const body = { q: `Côte d'Ivoire $HOME`, startRow: 0 };
  expect(curlCommand('https://almanac.example/api/v1/table_data/grid', body)).toBe(
    [
      "curl -X POST 'https://almanac.example/api/v1/table_data/grid' \\",
      '  -H "Authorization: Bearer $ALMANAC_TOKEN" \\',
      "  -H 'Content-Type: application/json' \\",
      "  -d '{",
      `  "q": "Côte d'\\''Ivoire $HOME",`,
      '  "startRow": 0',
      "}'",
    ].join('\n'),
  );
});
