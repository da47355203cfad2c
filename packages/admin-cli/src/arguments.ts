// What a command of the operators is, and how the words after its name are read. Problems are OperatorErrors.
import type { ParseArgsConfig } from 'node:util';
import { type Operator, OperatorError } from './operator.ts';

export type Values = Record<string, string | boolean | undefined>;

export type Command = {
  usage: string;
  about: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** How many words follow the command's name. */
  positionals: number;
  /** It works on databases and files itself, whether or not the system runs. */
  asksNoService?: true;
  /** Checks the words first (nothing is called when they don't hold), then answers what to do. */
  prepare(values: Values, words: string[]): (operator: Operator) => Promise<unknown>;
  show(answer: never): string;
};

/** An option that takes a word. */
export const text = { type: 'string' } as const;

export function require(values: Values, name: string): string {
  return (values[name] as string | undefined)?.trim() || missing(name);
}

export function missing(name: string): never {
  throw new OperatorError(`--${name} is missing.`);
}

export function oneOf<T extends string>(values: Values, name: string, allowed: readonly T[]): T | undefined {
  const value = values[name];
  if (value === undefined) return undefined;
  const found = allowed.find((entry) => entry === value);
  if (!found) throw new OperatorError(`--${name} should be one of ${allowed.join(', ')}, not "${value}".`);
  return found;
}

export function readTime(values: Values, name: string): string | undefined {
  const value = values[name] as string | undefined;
  if (value === undefined) return undefined;
  const time = value === 'now' ? new Date() : new Date(value);
  if (!(value === 'now' || /^\d{4}-\d{2}-\d{2}/.test(value)) || Number.isNaN(time.getTime()))
    throw new OperatorError(`--${name} should be an ISO 8601 time such as 2026-01-31T00:00:00Z, not "${value}".`);
  return time.toISOString();
}

export function readSwitch(values: Values, name: string): boolean | undefined {
  const value = oneOf(values, name, ['on', 'off']);
  return value === undefined ? undefined : value === 'on';
}

export function readCount(values: Values, name: string, of: string): number | undefined {
  const value = values[name] as string | undefined;
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value))
    throw new OperatorError(`--${name} should be a whole number of ${of}, not "${value}".`);
  return Number(value);
}

export function defined<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
