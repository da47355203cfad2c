// The shape of a column in answers.
import { z } from 'zod';
import { hierarchyDescription } from './column-rules.ts';
import { dataTypes } from './column-values.ts';

const columnShape = {
  id: z.int(),
  table_definition_id: z.int(),
  name: z.string(),
  data_type: z.enum(dataTypes).meta({
    description:
      'Values of decimal and bigint may have more digits than a JSON parser keeps that reads numbers into doubles; with exact_numbers records show them as strings.',
  }),
  length: z.int().nullable(),
  scale: z.int().nullable(),
  is_primary_key: z.boolean(),
  is_required: z.boolean(),
  foreign_key_table_id: z.int().nullable(),
  is_hierarchy: z.boolean().meta({ description: hierarchyDescription }),
  valid_values: z.string().nullable().meta({ description: 'Separated by `|`.' }),
  description: z.string().nullable(),
  position: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

export const columnSchema = z.object(columnShape).meta({ id: 'ColumnDefinition' });
