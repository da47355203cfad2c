// Names of operations and of what they take and answer, derived from the method and the path, so
// that generated code reads `createDomain(NewDomain): Domain`.

type Named = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  /** The answer is a page of a collection. */
  isList: boolean;
};

const verbs = { GET: 'get', POST: 'create', PATCH: 'update', PUT: 'put', DELETE: 'delete' } as const;

/**
 * The operationId. Collections: `listDomains`, `createDomain`; items: `getDomain`, `updateDomain`;
 * actions: `cloneTableDefinition`, and `send_request` of deployments is `sendDeploymentRequest`.
 */
export function operationIdOf({ method, path, isList }: Named): string {
  const segments = path.split('/').filter(Boolean);
  const last = segments.at(-1) as string;
  if (isList) return `list${nounOf(segments.slice(0, -1))}${pascal(last)}`;
  if (isParameter(last)) return `${verbs[method]}${nounOf(segments)}`;
  const isAction = method === 'POST' && segments.length > 1 && !last.endsWith('s');
  if (!isAction) return `${verbs[method]}${nounOf(segments)}`;
  const [verb = '', ...object] = last.split('_');
  return `${verb}${nounOf(segments.slice(0, -1))}${object.map(pascal).join('')}`;
}

/** `/oauth_applications/{id}/secrets` → `OauthApplicationSecret`. */
const nounOf = (segments: string[]) =>
  segments
    .filter((segment) => !isParameter(segment))
    .map((segment) => pascal(singular(segment)))
    .join('');

const isParameter = (segment: string) => segment.startsWith('{');

/** `branches` → `branch` */
const singular = (plural: string) => plural.replace(/(?<=ch)es$|s$/, '');

/** `table_definition` and `createDomain` → `TableDefinition`, `CreateDomain`. */
export const pascal = (name: string) => name.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());

/** What a parameter of a path identifies: `/imports/{id}/tables/{table_id}` → `import table`. */
export function describePathParameter(path: string, name: string): string {
  const segments = path.split('/').filter(Boolean);
  const nouns = segments
    .slice(0, segments.indexOf(`{${name}}`))
    .filter((segment) => !isParameter(segment))
    .map((segment) => singular(segment).replaceAll('_', ' '));
  return `The id of the ${nouns.join(' ')}.`;
}
