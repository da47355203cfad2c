// Every example of the document works: each operation is called as its example says, unchanged
// except for ids, and gets an answer that its schema describes and that looks like its example.

import { givenAccount } from '@almanac/testkit/system/builders';
import { shapeDifferences, shapeOf } from '@almanac/testkit/system/examples/answer-shapes';
import type { Recording } from '@almanac/testkit/system/examples/documented-operation';
import { recordExamples } from '@almanac/testkit/system/examples/recorded-examples';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type ApiDocument, apiPaths, holdingTo, type Operation, readDocument } from './document.ts';

const mediaOf = (content: NonNullable<Operation['requestBody']>['content'] | undefined) =>
  content?.['application/json'];

describe('the examples of the document', () => {
  let document: ApiDocument;
  let recording: Recording;

  beforeAll(async () => {
    document = await readDocument();
    const account = await givenAccount();
    const api = holdingTo(document, await account.person());
    recording = await recordExamples(document.paths as never, { api, application: account.application });
  }, 300_000);

  it('succeed when they are sent', () => {
    expect(recording.failures).toEqual([]);
    expect(Object.keys(recording.examples).length).toBeGreaterThan(100);
  });

  it('are there for every body of a request and every answer, and look like it (else: npm run examples)', () => {
    const wrong = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, requestBody, responses }) => {
        const made = recording.examples[operationId];
        const answered = Object.values(responses)[0];
        return [
          ...differences(`${operationId} takes`, mediaOf(requestBody?.content), made?.request),
          ...differences(`${operationId} answers`, mediaOf(answered?.content), made?.answer),
        ];
      }),
    );
    expect(wrong).toEqual([]);
  });
});

function differences(what: string, media: ReturnType<typeof mediaOf>, made: unknown): string[] {
  if (!media) return [];
  if (!('example' in media)) return [`${what}: no example`];
  return shapeDifferences(shapeOf(media.example), shapeOf(made)).map((difference) => `${what} ${difference}`);
}

describe('the document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(await readDocument());
    expect({ valid, errors, version: validator.version }).toEqual({ valid: true, errors: undefined, version: '3.1' });
  });

  it('describes every operation in words, with its refusals', async () => {
    const paths = apiPaths(await readDocument());
    const wrong = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const expected = ['400', '401', '403', '404', '429', '500', '503', ...(method === 'get' ? [] : ['402', '422'])];
        const missing = expected.filter((status) => !operation.responses[status]?.description);
        return missing.length > 0 ? [`${method} ${path}: ${missing}`] : [];
      }),
    );
    expect(wrong).toEqual([]);
  });
});
