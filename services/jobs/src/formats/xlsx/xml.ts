// Streaming XML reader. Bounded: no document types (hence no custom entities), no endless texts, no
// endless depth.
import { SaxesParser } from 'saxes';
import { fileError } from '../table-file/file-error.ts';

/** Names without their prefix. */
export type XmlHandlers = {
  open(name: string, attributes: Record<string, string>): void;
  text(text: string): void;
  close(name: string): void;
};

const maxText = 4 * 1024 * 1024;
const maxDepth = 64;

/** The emitted items, in batches. `what` names the part of the file in errors. */
export async function* readXml<T>(
  bytes: AsyncIterable<Uint8Array>,
  what: string,
  handle: (emit: (item: T) => void) => XmlHandlers,
): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let depth = 0;
  let quiet = 0; // characters since the parser's last event
  const handlers = handle((item) => batch.push(item));
  const parser = new SaxesParser({ position: false });
  const damaged = (cause?: unknown) => fileError(`${what} of the workbook is not well-formed XML.`, cause);
  parser.on('error', (error) => {
    throw damaged(error);
  });
  parser.on('doctype', () => {
    throw fileError(`${what} of the workbook declares a document type, which no workbook does.`);
  });
  parser.on('opentag', ({ name, attributes }) => {
    quiet = 0;
    depth += 1;
    if (depth > maxDepth) throw damaged();
    handlers.open(localName(name), attributes as Record<string, string>);
  });
  const text = (characters: string) => {
    quiet = 0;
    handlers.text(characters);
  };
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', ({ name }) => {
    quiet = 0;
    depth -= 1;
    handlers.close(localName(name));
  });
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
    } catch (cause) {
      throw damaged(cause);
    }
  };
  for await (const chunk of bytes) {
    const characters = decode(chunk);
    quiet += characters.length;
    parser.write(characters);
    if (quiet > maxText) throw fileError(`${what} of the workbook holds a text of more than ${maxText} characters.`);
    if (batch.length > 0) yield batch;
    batch = [];
  }
  parser.write(decode());
  parser.close();
  if (batch.length > 0) yield batch;
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1);
