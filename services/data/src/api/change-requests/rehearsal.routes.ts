// The route of rehearsals of change requests.
import { type Route, route } from '@almanac/service-kit/api/route';
import { limits } from '@almanac/service-kit/limits';
import { isProblemCode, type ProblemCode } from '@almanac/service-kit/problems';
import { z } from 'zod';
import type { ApplicationParts } from '../../change-requests/application/application.ts';
import { rehearse } from '../../change-requests/application/rehearsal.ts';
import type { TableAccess } from '../../tables/open-table.ts';
import { changeRequestId } from './change-requests.schemas.ts';

const count = z.int().min(0);

const problemSchema = z
  .looseObject({
    operation_id: z.int().meta({ description: 'The operation; 0 for the request as a whole.' }),
    table_definition_id: z.int(),
    table: z.string().meta({ description: 'The key of its table; empty when it is not deployed.' }),
    code: z.custom<ProblemCode>((code) => typeof code === 'string' && isProblemCode(code)).meta({ type: 'string' }),
    message: z.string(),
    column: z.string().optional(),
    row: z.int().optional().meta({ description: 'The `svc_sk` of the row that the operation changes.' }),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ChangeRequestProblem', description: 'What is in the way of one operation.' });

const rehearsalSchema = z
  .object({
    problems: z.array(problemSchema).meta({ description: `By operation, the first ${limits.problems} of them.` }),
    problem_count: count,
    tables: z.array(
      z
        .object({
          table_definition_id: z.int(),
          key: z.string(),
          created: count,
          updated: count.meta({ description: 'Rows that have the proposed values already are not counted.' }),
          deleted: count,
          restored: count,
        })
        .meta({ id: 'ChangeRequestEffects', description: 'How many rows of a table are written.' }),
    ),
    revision: z.string().meta({ description: 'Of what was rehearsed; `apply` takes it.' }),
  })
  .meta({ id: 'ChangeRequestRehearsal' });

/** The route, over what it needs of a cluster. */
export function rehearsalRoutes(parts: ApplicationParts & TableAccess): Route[] {
  return [
    route({
      method: 'POST',
      path: '/change_requests/{id}/rehearse',
      operationId: 'rehearseChangeRequest',
      tag: 'Change requests',
      summary: 'Find what is in the way of a change request',
      description:
        'Checks what `apply` would do with the operations that are neither rejected nor returned; no row changes. Every rule is checked over all tables at once: rows changed since, values, keys, references, rows still referred to, hierarchies. ' +
        'The problems are kept with the operations; those of tables that the caller may not view are left out of the answer.',
      extension: true,
      params: { id: changeRequestId },
      status: 200,
      response: rehearsalSchema,
      handle: ({ call, params, response }) => {
        const left = new AbortController();
        response.once('close', () => left.abort(new Error('the caller has left')));
        return rehearse(parts, call, Number(params.id), left.signal);
      },
    }),
  ];
}
