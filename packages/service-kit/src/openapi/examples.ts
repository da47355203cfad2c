// Examples of requests and answers, recorded from calls of a running system (npm run examples).

type Json = Record<string, unknown>;

/** A call of an operation and its answer. */
export type Example = {
  /** The parameters of path and query that the call had, by name. */
  parameters: Record<string, unknown>;
  request?: unknown;
  /** Absent where the answer has no body. */
  answer?: unknown;
};

/** By operationId. */
export type Examples = Record<string, Example>;

type Content = Record<string, Json>;
type Operation = {
  operationId: string;
  parameters: { name: string; required: boolean }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Paths = Record<string, Record<string, Json>>;

/** The paths with the examples that were recorded of their operations. */
export function withExamples(paths: Paths, examples: Examples): Paths {
  const each = (operation: Json) => {
    const example = examples[String(operation.operationId)];
    return example ? shown(operation as Operation, example) : operation;
  };
  return mapValues(paths, (operations) => mapValues(operations, each));
}

function shown(operation: Operation, { parameters, request, answer }: Example): Json {
  const { requestBody, responses } = operation;
  const answered = ([status, response]: [string, { content?: Content }]) =>
    /^2/.test(status) && response.content && answer !== undefined
      ? [status, { ...response, content: withExample(response.content, answer) }]
      : [status, response];
  return {
    ...operation,
    // A browser of the documentation sends what it finds here, so optional ones stay empty.
    parameters: operation.parameters.map((parameter) =>
      parameter.required && parameter.name in parameters
        ? { ...parameter, example: parameters[parameter.name] }
        : parameter,
    ),
    ...(requestBody && request !== undefined
      ? { requestBody: { ...requestBody, content: withExample(requestBody.content, request) } }
      : {}),
    responses: Object.fromEntries(Object.entries(responses).map(answered)),
  };
}

const withExample = (content: Content, example: unknown): Content =>
  mapValues(content, (media) => ({ ...media, example }));

const mapValues = <T, U>(members: Record<string, T>, change: (member: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(members).map(([key, member]) => [key, change(member)]));
