// The rows that a refusal names. Pure.

export type RefusedRow = { message: string; operationId: number | undefined; tableKey: string | undefined };

type Params = { operation_id?: unknown; table?: unknown };

/** The problems of a refusal, when some of them are of rows; nothing of any other error. */
export function refusedRows(error: unknown): RefusedRow[] {
  const { problems } = (typeof error === 'object' && error !== null ? error : {}) as { problems?: unknown };
  const found = (Array.isArray(problems) ? problems : []).map((problem) => {
    const { message, params } = problem as { message?: unknown; params?: Params };
    const { operation_id: operation, table } = params ?? {};
    return {
      message: String(message),
      operationId: typeof operation === 'number' ? operation : undefined,
      tableKey: typeof table === 'string' ? table : undefined,
    };
  });
  return found.some(({ operationId }) => operationId !== undefined) ? found : [];
}
