// The body of a refusal: what a test expects, and whether a body is one at all.
import { type Place, type ProblemCode, problemCodes } from '@almanac/service-kit/problems';
import { z } from 'zod';

/** The body of a refusal with one problem. */
export const refusal = (error: string, code: ProblemCode, message: string, place: Place = {}) => ({
  error,
  errors: [message],
  problems: [{ code, message, ...place }],
});

const problemSchema = z.strictObject({
  code: z.enum(Object.keys(problemCodes)),
  message: z.string().min(1),
  field: z.string().min(1).optional(),
  column: z.string().optional(),
  operation: z.int().min(0).optional(),
  row: z.int().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  current: z.record(z.string(), z.unknown()).optional(),
});

/** The members of every refusal. */
export const refusalShape = {
  error: z.string(),
  errors: z.array(z.string()).min(1),
  problems: z.array(problemSchema).min(1),
};
const refusalSchema = z.object(refusalShape);

/**
 * Why a body is not that of a refusal; undefined: it is. `problems` has one for each of `errors`,
 * in their order.
 */
export function refusalFault(body: unknown): string | undefined {
  const read = refusalSchema.safeParse(body);
  if (!read.success) return z.prettifyError(read.error);
  const { errors, problems } = read.data;
  const messages = problems.map(({ message }) => message);
  return JSON.stringify(messages) === JSON.stringify(errors) ? undefined : 'problems are not those of errors';
}
