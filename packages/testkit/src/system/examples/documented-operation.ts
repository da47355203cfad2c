// Operations as the OpenAPI document has them, and what is recorded of a call of one.

export type Body = Record<string, unknown>;
export type Parameter = { name: string; in: string; required: boolean };
export type Media = { example?: Body };

export type DocumentedOperation = {
  operationId: string;
  parameters: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, unknown> }>;
};
export type DocumentedPaths = Record<string, Record<string, DocumentedOperation>>;

export type RecordedExample = { parameters: Body; request?: unknown; answer?: unknown };
export type Recording = { examples: Record<string, RecordedExample>; failures: string[] };
