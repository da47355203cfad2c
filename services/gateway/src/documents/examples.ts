// The recorded examples of the OpenAPI document (npm run examples).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Examples } from '@almanac/service-kit/openapi/examples';

export const examples = JSON.parse(readFileSync(join(import.meta.dirname, 'examples.json'), 'utf8')) as Examples;
