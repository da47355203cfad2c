// Sends the file of an import table. By XMLHttpRequest, since fetch doesn't say how much is sent,
// and the client's calls end after a minute.
import { t } from '@lingui/core/macro';
import { AlmanacError } from '../../api/client.ts';

export type Sent = { bytes: number; total: number };

type UploadOptions = { signal: AbortSignal; onProgress: (sent: Sent) => void };

/** Rejects with the refusal of the server, with a TypeError without an answer, or when aborted. */
export function uploadFile(importId: number, tableId: number, file: Blob, options: UploadOptions): Promise<void> {
  const { signal, onProgress } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const request = new XMLHttpRequest();
    request.open('PUT', `/console/api/v1/imports/${importId}/tables/${tableId}/file`);
    request.setRequestHeader('X-Almanac-Console', '1');
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.upload.onprogress = ({ loaded }) => onProgress({ bytes: loaded, total: file.size });
    request.onload = () => (isSuccess(request) ? resolve() : reject(refusalOf(request)));
    request.onerror = () => reject(new TypeError(t`The upload was interrupted. Check the connection and try again.`));
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason);
    });
    request.send(file);
  });
}

const isSuccess = ({ status }: XMLHttpRequest) => status >= 200 && status < 300;

function refusalOf(request: XMLHttpRequest): AlmanacError {
  const { status, statusText, responseText } = request;
  const headers = new Headers({ 'X-Request-Id': request.getResponseHeader('x-request-id') ?? '' });
  return new AlmanacError('Uploading', new Response(null, { status, statusText, headers }), parse(responseText));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
