// The schema of an instant in a response body.
import { z } from 'zod';

export const timeSchema = z.string().meta({ format: 'date-time' });
