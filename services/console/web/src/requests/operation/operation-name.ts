import { plainText } from '../../cells/cell-text.ts';
import type { Operation } from '../queries.ts';

/** The key of the row of an operation as text: `DE · BB`. */
export function nameOf({ key }: Pick<Operation, 'key'>): string {
  return Object.values(key).map(plainText).join(' · ');
}
