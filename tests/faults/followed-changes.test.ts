// kill -9 of jobs, data and PostgreSQL, which is the broker here too, while others follow.
import { followedChanges } from '../support/followed-changes.suite.ts';
import { kill } from '../support/killing.ts';

followedChanges({
  victims: Object.fromEntries(['jobs', 'data', 'postgres'].map((name) => [name, () => kill(name)])),
});
