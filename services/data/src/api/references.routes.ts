// The routes about references: which record a label means, and which records refer to one.
import { type Route, route } from '@almanac/service-kit/api/route';
import { JsonText } from '@almanac/service-kit/http/json-text';
import { readTableReference, tableInBody, tableInQuery } from '@almanac/service-kit/rights/table-reference';
import { z } from 'zod';
import { getReferences } from '../references/referring.ts';
import { type ResolveAccess, resolveLabels } from '../references/resolve.ts';
import { labelsSchema, referencesSchema, resolvedSchema } from './references.schemas.ts';
import { recordIdText } from './table-data.schemas.ts';

const tag = 'Table data';

/** The routes of references, over what they need of a cluster. */
export function referenceRoutes(access: ResolveAccess): Route[] {
  return [
    route({
      method: 'POST',
      path: '/table_data/resolve',
      operationId: 'resolveLabels',
      tag,
      summary: 'Find the records that labels mean',
      example: { table_definition_id: 12, labels: ['Poland', ' poland ', 'Atlantis of old'] },
      description:
        'For names that are pasted where keys are due. With `column`, a foreign key, labels are those of the referenced table, on which `view` is needed; without it those of the table itself. ' +
        'A label is the value of the display column that lookups show. A record with exactly this text counts first; without any, case, blanks around the text and repeated blanks are ignored.',
      extension: true,
      resource: 'table_data',
      body: {
        ...tableInBody,
        column: z.string().min(1).optional().meta({ description: 'A column that refers to another table.' }),
        labels: labelsSchema.meta({ description: 'A label that is given twice is answered once.' }),
      },
      response: resolvedSchema,
      handle: async ({ call, body }) => {
        const { column, labels, ...named } = body();
        return new JsonText(await resolveLabels(access, call, readTableReference(named), { column, labels }));
      },
    }),
    route({
      method: 'GET',
      path: '/table_data/{id}/references',
      operationId: 'listReferences',
      tag,
      summary: 'Count the records that refer to a row',
      description:
        'By the foreign keys of the branch’s deployed tables that you may view; of other tables nothing is shown, not even their number. A row cannot be deleted while live records refer to it.',
      extension: true,
      params: { id: recordIdText },
      query: tableInQuery,
      response: referencesSchema,
      handle: ({ call, params, query }) => getReferences(access, call, readTableReference(query), params.id),
    }),
  ];
}
