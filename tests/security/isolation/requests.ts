// Makes requests from an operation's own schemas: the given identifiers, everything else small and
// valid.
import type { Api } from '@almanac/api-client/api';
import { unique } from '@almanac/testkit/system/builders';
import { alternativeName, type Operation, type Parameter, type Place, type Schema } from './operations.ts';
import { companionsOf, type Kind, kindsAt, needsTable } from './places.ts';
import type { Owned } from './twins.ts';

export type Request = { method: string; path: string; body?: unknown };

/** An identifier at a place; several for a list. */
export type Choice = { place: Place; kind: Kind; values: (number | string)[] };

/** The notation of the attributes of a body; all mean the same. */
export type Form = 'nested' | 'flat' | 'brackets';
export const forms: Form[] = ['nested', 'flat', 'brackets'];

// Values that a schema alone doesn't define.
const samples: Record<string, () => unknown> = {
  name: () => `sample_${unique()}`,
  description: () => `sample ${unique()}`,
  comment: () => 'sample',
  email: () => `sample-${unique()}@example.com`,
  first_name: () => `Sample ${unique()}`,
  redirect_uri: () => 'https://sample.example/callback',
  url: () => 'https://sample.example/hook',
  event_types: () => ['webhook.test'],
  since: () => '2026-01-01T00:00:00Z',
  record: () => ({ code: unique().slice(0, 8), name: 'sample' }),
  set: () => ({ name: 'sample' }),
  key: () => ({ code: 'S' }),
  state: () => ({}),
  endRow: () => 10,
  column: () => 'code',
  q: () => 'mark', // of a search: the texts of both accounts begin with it
  columns: () => ['code'],
  resource_type: () => 'domain',
  keep_previous: () => true,
};

// Sent even where they are optional: a request that would change nothing can't show that nothing
// was changed.
const alwaysSent = ['name', 'description', 'comment', 'first_name', 'keep_previous', 'resource_id'];

/** Parameters of bodies that are objects; other objects hold the attributes of the resource. */
export const objectParameters = new Set(['copy']);

/** An answer with the names of its headers; their values differ with every answer. */
export type RawAnswer = { status: number; text: string; headers: string[] };

/** Sends a request; the text is not parsed, since every byte matters. */
export async function ask(api: Api, { method, path, body }: Request): Promise<RawAnswer> {
  const answer = await fetch(`${api.baseUrl}/api/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${api.token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text(), headers: [...answer.headers.keys()] };
}

/** A request with these identifiers; further ones that it needs are the owner's. */
export function makeRequest(operation: Operation, choices: Choice[], owned: Owned, form: Form = 'nested'): Request {
  return new RequestMaker(operation, choices, owned).make(form);
}

class RequestMaker {
  private readonly operation: Operation;
  private readonly choices: Choice[];
  private readonly owned: Owned;
  private readonly companions: Record<string, Kind>;

  constructor(operation: Operation, choices: Choice[], owned: Owned) {
    this.operation = operation;
    this.choices = choices;
    this.owned = owned;
    this.companions = Object.assign({}, ...choices.map(({ place, kind }) => companionsOf(place, kind)));
  }

  make(form: Form): Request {
    const { operation } = this;
    const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => String(this.parameter(name)));
    const query = operation.parameters
      .filter((parameter) => parameter.in === 'query' && this.isSent(parameter))
      .flatMap(({ name, schema }) => {
        const value = this.parameter(name);
        if (schema.type !== 'object') return [[name, String(value)]];
        return Object.entries(value as unknown as object).map(([inner, own]) => [`${name}[${inner}]`, String(own)]);
      });
    for (const { place, values } of this.choices) {
      if (place.where !== 'filter') continue;
      query.push(['q', `${place.name}:eq:${values[0]}`]);
      // The same number may be the id of another kind of the caller's resources.
      if (place.name === 'resource_id') query.push(['q', 'resource_type:eq:domain']);
    }
    const search = new URLSearchParams(query as [string, string][]).toString();
    const body = operation.takesFile ? 'code,name\nS,sample\n' : this.body(form);
    return {
      method: operation.method,
      path: `${path}${search && `?${search}`}`,
      ...(body === undefined ? {} : { body }),
    };
  }

  private isSent({ name, required }: Parameter): boolean {
    return required || this.chosen('query', name) !== undefined || name in this.companions || this.isNaming(name);
  }

  private chosen(where: Place['where'], name: string): Choice | undefined {
    return this.choices.find(({ place }) => place.where === where && place.name === name);
  }

  // Where a table is named by id or by key, the request has the id unless the key is tried.
  private isNaming(name: string): boolean {
    const { parameters, body } = this.operation;
    const has = (other: string) =>
      body?.properties?.[other] !== undefined || parameters.some((each) => each.name === other && each.in === 'query');
    if (name !== 'table_definition_id' || !has('table_definition_key') || !needsTable(this.operation)) return false;
    const isByKey =
      'table_definition_key' in this.companions ||
      this.choices.some(({ place }) => place.name === 'table_definition_key' && place.where !== 'filter');
    return !isByKey;
  }

  private parameter(name: string): number | string {
    const chosen = this.chosen('path', name) ?? this.chosen('query', name);
    if (chosen) return chosen.values[0] as number | string;
    const parameter = this.operation.parameters.find((each) => each.name === name) as Parameter;
    const place: Place = { operation: this.operation, where: parameter.in, name, steps: [] };
    const kind = this.companions[name] ?? kindsAt(place)?.[0];
    if (kind) return this.owned[kind];
    return this.sample(parameter.schema, [name]) as number | string;
  }

  private body(form: Form): unknown {
    const { body: schema } = this.operation;
    if (!schema) return undefined;
    const body = this.sample(schema, []) as Record<string, unknown>;
    if (form === 'nested') return body;
    return Object.fromEntries(
      Object.entries(body).flatMap(([name, value]) => {
        const isResource = schema.properties?.[name]?.properties !== undefined && !objectParameters.has(name);
        if (!isResource) return [[name, value]];
        const suffix = (own: unknown) => (Array.isArray(own) ? '[]' : '');
        return Object.entries(value as unknown as object).map(([inner, own]) => [
          form === 'flat' ? inner : `${name}[${inner}]${suffix(own)}`,
          own,
        ]);
      }),
    );
  }

  private sample(schema: Schema, steps: string[]): unknown {
    const isList = schema.type === 'array';
    const name = steps.findLast((step) => step !== '[]') ?? '';
    const place: Place = { operation: this.operation, where: 'body', name, steps };
    const chosen = this.choices.find(({ place: other }) => other.where === 'body' && isSame(other.steps, steps));
    if (chosen) return isList ? chosen.values : chosen.values[0];
    const kind = this.companions[name] ?? kindsAt(place)?.[0];
    if (kind) return isList ? [this.owned[kind]] : this.owned[kind];
    const made = samples[name]?.();
    // A list and an object may have one name.
    if (made !== undefined && !(Array.isArray(made) && schema.type === 'object')) return made;
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (schema.oneOf) return this.alternative(schema.oneOf, steps);
    if (schema.anyOf) return this.sample(schema.anyOf[0] as Schema, steps);
    if (schema.items) return [this.sample(schema.items, [...steps, '[]'])];
    if (schema.properties) return this.object(schema, steps);
    if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
    return schema.type === 'boolean' ? false : 'sample';
  }

  private alternative(all: Schema[], steps: string[]): unknown {
    const schema = all.find((each) => this.leadsToChoice([...steps, alternativeName(each)])) ?? (all[0] as Schema);
    return this.sample(schema, [...steps, alternativeName(schema)]);
  }

  private leadsToChoice(steps: string[]): boolean {
    return this.choices.some(
      ({ place }) => place.where === 'body' && isSame(place.steps.slice(0, steps.length), steps),
    );
  }

  private object(schema: Schema, steps: string[]): Record<string, unknown> {
    const sent = Object.entries(schema.properties ?? {}).filter(([name]) => {
      const isNeeded = schema.required?.includes(name) || alwaysSent.includes(name);
      return this.leadsToChoice([...steps, name]) || isNeeded || name in this.companions || this.isNaming(name);
    });
    return Object.fromEntries(sent.map(([name, inner]) => [name, this.sample(inner, [...steps, name])]));
  }
}

const isSame = (a: string[], b: string[]) => a.length === b.length && a.every((step, place) => step === b[place]);
