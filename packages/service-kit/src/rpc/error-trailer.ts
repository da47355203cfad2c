// The trailer that carries a ServiceError between services: its kind, label and problems.

import { codesOfKinds, type ErrorKind, errorKinds, ServiceError } from '../errors.ts';
import { isProblemCode, moreProblems, type Place, type Problem } from '../problems.ts';

/**
 * `errors` has the messages, as the last release reads them; `problems` has the rest of each, in
 * the same order. The last release sends none.
 */
type Trailer = { kind: ErrorKind; label: string; errors: string[]; problems?: Omit<Problem, 'message'>[] };

// Trailers have a size limit: a long list is cut, and places that don't fit are left out.
const maxSentenceBytes = 24_000;
const maxPlaceBytes = 12_000;

/** The bytes of the trailer. */
export function writeErrorTrailer({ kind, label, problems }: ServiceError): Buffer {
  const kept = fit(problems);
  let room = maxPlaceBytes;
  const placed = kept.map(({ code, message: _, current: __, ...place }) => {
    room -= Buffer.byteLength(JSON.stringify(place));
    return room >= 0 || code === 'more_problems' ? { code, ...place } : { code };
  });
  const trailer: Trailer = { kind, label, errors: kept.map(({ message }) => message), problems: placed };
  return Buffer.from(JSON.stringify(trailer));
}

function fit(problems: readonly Problem[]): readonly Problem[] {
  let bytes = 0;
  const end = problems.findIndex(({ message }) => {
    bytes += message.length * 4;
    return bytes > maxSentenceBytes;
  });
  return end === -1 ? problems : [...problems.slice(0, end), moreProblems(countOf(problems.slice(end)))];
}

// The last problem of a list that is cut already stands for others.
const countOf = (problems: readonly Problem[]): number =>
  problems.reduce((count, { code, params }) => count + (code === 'more_problems' ? Number(params?.count) : 1), 0);

/** The error of a trailer; undefined when its kind is unknown here. */
export function readErrorTrailer(bytes: Buffer, cause: unknown): ServiceError | undefined {
  const { kind, label, errors, problems = [] } = JSON.parse(bytes.toString()) as Trailer;
  if (!(kind in errorKinds)) return undefined;
  const restored = errors.map((message, i): Problem => {
    const { code, ...place } = problems[i] ?? { code: codesOfKinds[kind] };
    // A code of the next release is unknown here; the kind's says as much.
    return { code: isProblemCode(code) ? code : codesOfKinds[kind], message, ...(place as Place) };
  });
  return new ServiceError(kind, restored, { label, cause });
}
