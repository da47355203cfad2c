// The body of a refusal in the OpenAPI document.
import { problemCodes } from '../problems.ts';

const text = { type: 'string' };

/** One of `problems`. Codes may be added: an enum would make strict readers refuse them. */
export const problemSchema = {
  type: 'object',
  required: ['code', 'message'],
  additionalProperties: false,
  properties: {
    code: {
      ...text,
      description: 'What kind of problem it is; docs/errors.md explains each. Later releases may add codes.',
      'x-extensible-enum': Object.keys(problemCodes),
    },
    message: { ...text, description: 'For people: its line in `errors`.' },
    field: { ...text, description: 'The attribute or parameter; a dotted path below the body.' },
    column: { ...text, description: 'The column of a record, by name.' },
    operation: { type: 'integer', minimum: 0, description: 'The operation of a batch, counted from 0.' },
    row: { type: 'integer', description: 'The record, by its `svc_sk`.' },
    params: {
      type: 'object',
      additionalProperties: true,
      description: 'Values for a program, such as `maximum` or `allowed`.',
    },
    current: {
      type: 'object',
      additionalProperties: true,
      description: 'With `version_conflict`: the record as it is now.',
    },
  },
};

/** The members of every body of a refusal. */
export const errorProperties = {
  error: text,
  errors: { type: 'array', items: text },
  problems: { type: 'array', items: { $ref: '#/components/schemas/Problem' } },
};

export const errorSchema = {
  type: 'object',
  required: ['error', 'errors', 'problems'],
  additionalProperties: false,
  properties: errorProperties,
};
