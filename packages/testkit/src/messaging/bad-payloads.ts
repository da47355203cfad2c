// Payloads that no event has: what a message may hold that no service of ours published.
const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

export const badPayloads = [
  ...[null, true, 5, 'text', [], [null], {}],
  ...[null, '1', [1], {}, true, 0, -1, 1.5, 2 ** 31].map((account_id) => ({ account_id })),
  { account_id: 1, nested: nested(1_000) },
] as Record<string, unknown>[];
