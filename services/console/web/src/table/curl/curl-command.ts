// A call of the API as a command of a shell.

/** A POST of JSON with the token of the variable ALMANAC_TOKEN; any POSIX shell reads it. */
export function curlCommand(url: string, body: unknown): string {
  return [
    `curl -X POST ${quoted(url)}`,
    '  -H "Authorization: Bearer $ALMANAC_TOKEN"',
    "  -H 'Content-Type: application/json'",
    `  -d ${quoted(JSON.stringify(body, null, 2))}`,
  ].join(' \\\n');
}

// Within single quotes a shell reads all as it is, but for the quote.
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
