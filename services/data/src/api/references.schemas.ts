// What requests about references send and get.
import { limits } from '@almanac/service-kit/limits';
import { z } from 'zod';

export const labelsSchema = z.array(z.string()).min(1).max(limits.labelsPerRequest);

const recordOfLabel = {
  id: z.int().meta({ description: 'The `svc_sk` of the record.' }),
  key: z
    .record(z.string(), z.unknown())
    .meta({ description: 'The primary key of the record: the columns of its table, with their values.' }),
  values: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'With `column`: what to write into the columns of the reference to mean this record.' }),
  display: z.string().meta({ description: 'The label as the record has it; the beginning of a long one.' }),
};

const label = z.string().meta({ description: 'As the request has it.' });

export const resolvedSchema = z.object({
  resolved: z.array(z.object({ label, ...recordOfLabel }).meta({ id: 'ResolvedLabel' })),
  ambiguous: z
    .array(
      z
        .object({
          label,
          count: z.int().meta({ description: 'The number of records with this label.' }),
          matches: z
            .array(z.object(recordOfLabel).meta({ id: 'LabelMatch' }))
            .meta({ description: 'The first ten of them.' }),
        })
        .meta({ id: 'AmbiguousLabel' }),
    )
    .meta({ description: 'Labels that several records have.' }),
  unknown: z.array(z.string()).meta({ description: 'Labels that no record has.' }),
});

export const referencesSchema = z.object({
  references: z.array(
    z
      .object({
        table_definition_id: z.int(),
        table_definition_key: z.string(),
        name: z.string().meta({ description: 'The name of the referring table.' }),
        columns: z.array(z.string()).meta({ description: 'Its columns that refer to the record.' }),
        count: z.int().meta({ description: `The live records that refer to it, up to ${limits.countedReferences}.` }),
        is_exact: z.boolean().meta({ description: 'False: there are more than `count`.' }),
        ids: z.array(z.int()).meta({ description: 'The first ten of them.' }),
        filterModel: z
          .record(z.string(), z.unknown())
          .meta({ description: 'Shows them in a grid query of the referring table; like any filter it ignores case.' }),
      })
      .meta({ id: 'RecordReference' }),
  ),
});
