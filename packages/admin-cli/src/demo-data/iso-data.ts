// The demo data: ISO code lists from npm packages, with the definitions of their tables.
// Sources and licences: docs/third-party-data.md.
import currencies from 'currency-codes';
import { iso6393 } from 'iso-639-3';
import { iso31661, iso31662 } from 'iso-3166';

export type SeedColumn = {
  name: string;
  data_type: string;
  length?: number;
  is_primary_key?: boolean;
  is_required?: boolean;
  valid_values?: string;
  /** Name of the table whose primary key the column refers to. */
  refersTo?: string;
  description?: string;
};

export type SeedTable = {
  name: string;
  description: string;
  columns: SeedColumn[];
  /** The column that references to its rows show. */
  display?: string;
  rows: (string | number | null)[][];
};

const key = { is_primary_key: true, is_required: true };
const required = { is_required: true };

const countries: SeedTable = {
  name: 'Countries',
  description: 'ISO 3166-1: countries and areas with their alphabetic and numeric codes',
  display: 'name',
  columns: [
    { name: 'alpha2', data_type: 'string', length: 2, ...key, description: 'Two-letter code' },
    { name: 'alpha3', data_type: 'string', length: 3, ...required, description: 'Three-letter code' },
    { name: 'numeric_code', data_type: 'string', length: 3, ...required, description: 'Three digits, zeros kept' },
    { name: 'name', data_type: 'string', length: 100, ...required },
  ],
  rows: iso31661.map(({ alpha2, alpha3, numeric, name }) => [alpha2, alpha3, numeric, name]),
};

const subdivisions: SeedTable = {
  name: 'Subdivisions',
  description: 'ISO 3166-2: provinces, states, departments and other parts of countries',
  columns: [
    {
      name: 'code',
      data_type: 'string',
      length: 6,
      ...key,
      description: 'Country code, hyphen, up to three characters',
    },
    { name: 'country', data_type: 'string', length: 2, ...required, refersTo: 'Countries' },
    { name: 'name', data_type: 'string', length: 150, ...required },
    { name: 'parent_code', data_type: 'string', length: 6, description: 'The subdivision this one lies in, if any' },
  ],
  rows: iso31662.map(({ code, name, parent }) => [code, code.slice(0, 2), name, parent.includes('-') ? parent : null]),
};

const currencyTable: SeedTable = {
  name: 'Currencies',
  description: 'ISO 4217: currencies and funds',
  columns: [
    { name: 'code', data_type: 'string', length: 3, ...key },
    { name: 'numeric_code', data_type: 'string', length: 3, ...required, description: 'Three digits, zeros kept' },
    { name: 'name', data_type: 'string', length: 100, ...required },
    { name: 'minor_units', data_type: 'integer', description: 'Digits after the decimal point' },
  ],
  rows: currencies.data.map(({ code, number, currency, digits }) => [code, number, currency, digits]),
};

const languages: SeedTable = {
  name: 'Languages',
  description: 'ISO 639-3: all known languages, living and not',
  columns: [
    { name: 'code', data_type: 'string', length: 3, ...key },
    { name: 'name', data_type: 'string', length: 150, ...required },
    {
      name: 'type',
      data_type: 'string',
      length: 20,
      ...required,
      valid_values: 'living|historical|extinct|ancient|constructed|special',
    },
    { name: 'scope', data_type: 'string', length: 20, ...required, valid_values: 'individual|macrolanguage|special' },
    { name: 'alpha2', data_type: 'string', length: 2, description: 'ISO 639-1 code, for the languages that have one' },
  ],
  rows: iso6393.map((language) => [
    language.iso6393,
    language.name,
    language.type,
    language.scope,
    language.iso6391 ?? null,
  ]),
};

export const domain = {
  name: 'ISO standards',
  abbreviation: 'ISO',
  description: 'Code lists that every system shares',
};

/** Each table comes after those it refers to. */
export const isoTables: SeedTable[] = [countries, subdivisions, currencyTable, languages];

/** The rows as CSV (RFC 4180) with a header line. An unquoted empty cell is null. */
export function toCsv(table: SeedTable): string {
  const cell = (value: string | number | null) =>
    value === null
      ? ''
      : /[",\r\n]/.test(String(value)) || value === ''
        ? `"${String(value).replaceAll('"', '""')}"`
        : value;
  const lines = [table.columns.map((column) => column.name), ...table.rows].map((row) => row.map(cell).join(','));
  return `${lines.join('\r\n')}\r\n`;
}
