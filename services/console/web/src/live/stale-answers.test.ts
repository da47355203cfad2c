import { staleAnswers } from './stale-answers.ts';

const after = (type: string, id: number | null = 7) => staleAnswers({ type, resource: { type: 'x', id } });

describe('after an event', () => {
  it.each([
    ['rows.changed', [['rows', 7]]],
    ['import.finished', [['imports']]],
    ['domain.created', [['domains']]],
  ])('%s the answers about it are stale', (type, keys) => {
    expect(after(type)).toEqual(keys);
  });

  it('of a review the inbox is stale, and not the operations that are being reviewed', () => {
    expect(after('change_request.requested')).toContainEqual(['inbox']);
    expect(after('change_request.requested').flat()).not.toContain('change_operations');
  });

  it('of a kind that no page shows nothing is', () => {
    expect(after('webhook_endpoint.created')).toEqual([]);
    expect(after('rows.changed', null)).toEqual([]);
  });
});
