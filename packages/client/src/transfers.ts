// Imports and exports: starts them, moves the bytes, and waits for their end.
import type { Answer, Call } from './calls.ts';
import { AlmanacError, readFailure } from './errors.ts';
import type { paths } from './generated/schema.ts';
import type { Send } from './sending.ts';
import { until, type WaitOptions } from './waiting.ts';

export type Import = Answer<'/imports/{id}', 'get'>;
export type Export = Answer<'/exports/{id}', 'get'>;
export type FileContent = string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;

type Body<P extends keyof paths> = paths[P] extends {
  post: { requestBody?: { content: { 'application/json': infer B } } };
}
  ? B
  : never;

/** The attributes of `POST /imports/{id}/tables`, the branch, and the file. */
export type NewImport = Body<'/imports/{id}/tables'> & {
  branch_id: number;
  correlation_code?: string;
  file: FileContent;
};
export type NewExport = Body<'/exports'>;

export type Transfers = {
  /**
   * Loads a file into a table: opens an import, uploads, and waits for its end. Check its `status`.
   */
  importFile(given: NewImport, options?: WaitOptions<Import>): Promise<Import>;
  /** Uploads a file to the `upload_url` of an import table. */
  upload(uploadUrl: string, file: FileContent, options?: { signal?: AbortSignal }): Promise<void>;
  /**
   * Waits until an import is over: `completed`, `completed_with_errors`, `failed` or `cancelled`.
   */
  waitForImport(id: number, options?: WaitOptions<Import>): Promise<Import>;
  /** Exports a table and waits for its end. Check its `status`. */
  exportTable(given: NewExport, options?: WaitOptions<Export>): Promise<Export>;
  /** Waits until an export is over: `completed`, `failed` or `cancelled`. */
  waitForExport(id: number, options?: WaitOptions<Export>): Promise<Export>;
  /** The file of a completed export, as a Response. Fetches a fresh download address first. */
  download(exportId: number, options?: { signal?: AbortSignal }): Promise<Response>;
};

const over = new Set(['completed', 'completed_with_errors', 'failed', 'cancelled']);
const isOver = ({ status }: { status: string }) => over.has(status);
const withSignal = (signal?: AbortSignal) => (signal ? { signal } : {});

export function createTransfers({ get, post }: { get: Call<'get'>; post: Call<'post'> }, send: Send): Transfers {
  const waitForImport: Transfers['waitForImport'] = (id, options = {}) => {
    const read = () => get('/imports/{id}', { params: { path: { id } }, ...withSignal(options.signal) });
    return until(read, isOver, options);
  };
  const waitForExport: Transfers['waitForExport'] = (id, options = {}) => {
    const read = () => get('/exports/{id}', { params: { path: { id } }, ...withSignal(options.signal) });
    return until(read, isOver, options);
  };
  // The address is signed: it needs no token, and must not get one.
  const upload: Transfers['upload'] = async (url, file, { signal } = {}) => {
    const response = await send(new Request(url, { method: 'PUT', body: file, ...withSignal(signal) }), true);
    if (!response.ok) throw new AlmanacError('Uploading', response, await readFailure(response));
    await response.body?.cancel();
  };
  return {
    waitForImport,
    waitForExport,
    upload,
    importFile: async ({ branch_id, correlation_code, file, ...table }, options = {}) => {
      const { signal } = options;
      const opened = await post('/imports', {
        body: { branch_id, ...(correlation_code === undefined ? {} : { correlation_code }) },
        ...withSignal(signal),
      });
      const params = { path: { id: opened.id } };
      const added = await post('/imports/{id}/tables', { params, body: table as NewImport, ...withSignal(signal) });
      await upload(added.upload_url, file, withSignal(signal));
      await post('/imports/{id}/upload_complete', { params, ...withSignal(signal) });
      return waitForImport(opened.id, options);
    },
    exportTable: async (given, options = {}) => {
      const { id } = await post('/exports', { body: given, ...withSignal(options.signal) });
      return waitForExport(id, options);
    },
    download: async (id, { signal } = {}) => {
      const { download_url, status } = await get('/exports/{id}', { params: { path: { id } }, ...withSignal(signal) });
      if (download_url === null) throw new Error(`Export ${id} has no file: it is ${status}.`);
      const response = await send(new Request(download_url, withSignal(signal)), true);
      if (!response.ok) throw new AlmanacError('Downloading', response, await readFailure(response));
      return response;
    },
  };
}
