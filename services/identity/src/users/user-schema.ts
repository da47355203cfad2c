// The shape of a user in answers.
import { z } from 'zod';
import { timeSchema } from '../time-schema.ts';
import { licenseTypes, userTypes } from './users.ts';

export const userSchema = z
  .object({
    id: z.int(),
    first_name: z.string(),
    last_name: z.string(),
    email: z.string().meta({ description: 'Empty for a service user.' }),
    user_type: z.enum(userTypes).meta({ description: 'Extension: `service` for a user that programs act as.' }),
    license_type: z.enum(licenseTypes),
    status: z.enum(['invited', 'active', 'suspended']),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: 'User' });

export const groupReferenceSchema = z.object({ id: z.int(), name: z.string() }).meta({ id: 'UserGroupReference' });
