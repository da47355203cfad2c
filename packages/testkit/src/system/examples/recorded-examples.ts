// Calls every operation of the OpenAPI document once, as its examples say, and records what was
// sent and answered. The examples in the document are such a record (npm run examples);
// tests/contract makes another one, and compares them.
import { type Api, createApi } from '@almanac/api-client/api';
import { type Application, signInMachine } from '@almanac/api-client/sign-in';
import type { DocumentedOperation, DocumentedPaths, RecordedExample, Recording } from './documented-operation.ts';
import { World } from './example-world.ts';

export type Recorder = {
  /** Of an administrator, on a plan with branching. */
  api: Api;
  application: Application;
};

/** Calls every operation. A failure is an answer other than the documented success. */
export async function recordExamples(paths: DocumentedPaths, { api, application }: Recorder): Promise<Recording> {
  const { access_token } = await signInMachine(api.baseUrl, application);
  const world = new World(api, createApi(api.baseUrl, access_token));
  await world.make();
  const recording: Recording = { examples: {}, failures: [] };
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method.toUpperCase()} ${path}`;
      if (isEndless(operation)) continue;
      try {
        const example = path.startsWith('/api/v1/')
          ? await world.call(method.toUpperCase(), path.replace('/api/v1', ''), operation)
          : await callOAuth(api.baseUrl, application, path, operation);
        if (example) recording.examples[operation.operationId] = masked(example, api.baseUrl);
      } catch (error) {
        recording.failures.push(`${name}: ${(error as Error).message.slice(0, 1_000)}`);
      }
    }
  return recording;
}

// A stream of events ends when its reader leaves, and has no body to show.
const isEndless = ({ responses }: DocumentedOperation) =>
  responses['200']?.content?.['text/event-stream'] !== undefined;

/** The endpoints of OAuth that programs call. */
async function callOAuth(
  baseUrl: string,
  application: Application,
  path: string,
  { requestBody }: DocumentedOperation,
): Promise<RecordedExample | undefined> {
  if (path === '/oauth/authorize') return undefined; // a page
  const form = requestBody?.content['application/x-www-form-urlencoded']?.example as Record<string, string> | undefined;
  const { access_token: token } = await signInMachine(baseUrl, application);
  const body = form && { ...form, ...('token' in form ? { token } : {}) };
  const basic = Buffer.from(`${application.client_id}:${application.client_secret}`).toString('base64');
  const answer = await fetch(`${baseUrl}${path}`, {
    method: form ? 'POST' : 'GET',
    ...(body ? { body: new URLSearchParams(body), headers: { Authorization: `Basic ${basic}` } } : {}),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}: ${await answer.text()}`);
  return { parameters: {}, ...(body ? { request: body } : {}), answer: await answer.json() };
}

const secretMembers = /^(client_secret|secret|access_token|refresh_token|token|current_password)$/;

/** What is secret, or an address of this system, as a stand-in. */
function masked(example: RecordedExample, baseUrl: string): RecordedExample {
  const text = JSON.stringify(example, (key, value) =>
    typeof value === 'string' && secretMembers.test(key) ? '2YotnFZFEjr1zCsicMWpAA' : value,
  );
  const signed = text.replace(/(\/files\/[^"?]+)\?[^"]*/g, '$1?signature=2YotnFZFEjr1zCsicMWpAA');
  return JSON.parse(signed.replaceAll(baseUrl, 'https://almanac.example.com')) as RecordedExample;
}
