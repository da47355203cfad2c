// UUIDs in the form with hyphens, either case.
import { brokenUnlessSql, type Check, matchesSql } from './check.ts';

const source = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';
const pattern = new RegExp(`^${source}$`);

/** The rule of a UUID. */
export const uuidCheck: Check = {
  code: 'wrong_format',
  message: 'must be a UUID',
  brokenBy: (text) => !pattern.test(text),
  brokenSql: (x) => brokenUnlessSql(x, 'uuid', `${x}::uuid::text = ${x} or ${matchesSql(x, source)}`),
};
