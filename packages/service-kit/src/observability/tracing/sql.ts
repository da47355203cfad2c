// Spans of SQL statements, of pg and so of Prisma too: the verb and the database, never text or
// values.
import pg from 'pg';
import type { Span, Tracing } from './tracing.ts';

// biome-ignore lint/suspicious/noExplicitAny: pg's query takes its arguments in many forms; they pass through as they are.
type Query = (this: pg.Client, ...args: any[]) => any;

const knownVerb =
  /^\s*(select|insert|update|delete|with|values|begin|commit|rollback|savepoint|release|create|alter|drop|copy|set|lock|analyze)\b/i;

/** Traces the statements of traced work; periodic work of services is not traced. */
export function traceStatements(tracing: Tracing): void {
  const { prototype } = pg.Client;
  const original = prototype.query as Query;
  prototype.query = function (this: pg.Client, ...args: unknown[]) {
    if (!tracing.here()) return original.apply(this, args);
    const verb = verbOf(args[0]);
    const facts = { 'db.system.name': 'postgresql', 'db.operation.name': verb, 'db.namespace': this.database };
    const span = tracing.begin({ kind: 'client', name: `${verb} ${this.database}`, facts });
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      args[args.length - 1] = (error: unknown, ...rest: unknown[]) => {
        end(span, error);
        callback(error, ...rest);
      };
      return original.apply(this, args);
    }
    const result = original.apply(this, args);
    if (typeof result?.then !== 'function')
      span.end(); // a stream, which ends when its reader does
    else
      result.then(
        () => end(span),
        (error: unknown) => end(span, error),
      );
    return result;
  } as typeof prototype.query;
}

function end(span: Span, error?: unknown): void {
  span.end(error ? { failed: String((error as { code?: unknown }).code ?? 'unknown').slice(0, 64) } : {});
}

function verbOf(statement: unknown): string {
  const text = typeof statement === 'string' ? statement : (statement as { text?: unknown } | undefined)?.text;
  return (typeof text === 'string' && knownVerb.exec(text)?.[1]?.toUpperCase()) || 'SQL';
}
