// An import table whose file is loaded once more.
import { randomUUID } from 'node:crypto';

const emptyResult = {
  bytes_processed: 0,
  rows_processed: 0,
  rows_read: null,
  rows_inserted: null,
  rows_updated: null,
  rows_deleted: null,
  rows_unchanged: null,
  rows_rejected: null,
  duration_ms: null,
  rejections: [],
  errors: [],
  rejected_key: null,
  started_at: null,
  finished_at: null,
};

/**
 * What the table then has instead of its result. Its load id is a new one: data would answer the
 * old one with that result.
 */
export const furtherLoad = () => ({ status: 'uploaded', load_id: randomUUID(), ...emptyResult });
