// The names, rows and files that examples are made of.

/** Names of what is made, one after the other. */
export const names = {
  domain: ['Finance', 'Logistics', 'Human resources', 'Sales'],
  branch: [
    ...['Spring changes', 'Autumn changes', 'New regions', 'Year end', 'Harmonised codes', 'Euro area'],
    ...['Merged companies', 'New warehouse', 'Customs reform', 'Shop launch', 'Price review', 'Audit findings'],
  ],
  table: [
    ...['Regions', 'Cost centres', 'Units of measure', 'Incoterms', 'Payment terms', 'Carriers', 'Ports', 'Airports'],
    ...['Tax codes', 'Banks', 'Industries', 'Salutations', 'Time zones', 'Materials', 'Colours', 'Sizes'],
    ...['Order types', 'Return reasons', 'Shifts', 'Job titles', 'Legal forms', 'Hazard classes', 'Postal codes'],
  ],
  group: ['Cartographers', 'Controllers', 'Buyers'],
  mapping: ['From the warehouse', 'From the shop', 'Yearly delivery'],
  application: ['Nightly load', 'Shop', 'Reporting'],
  service: ['Pipeline', 'Catalogue feed', 'Release robot'],
  person: ['grace@example.com', 'edsger@example.com', 'barbara@example.com', 'donald@example.com'],
};

/** A file with a row for the table, and one whose row is rejected. */
export const csv = 'alpha2,alpha3,numeric_code,name\r\nXZ,XXZ,999,Utopia\r\n';
export const rejectedCsv = csv.replace('999', '99999');
const code = { data_type: 'string', is_required: true };
export const countryColumns = [
  { ...code, name: 'alpha2', length: 2, is_primary_key: true, description: 'Two-letter code' },
  { ...code, name: 'alpha3', length: 3, description: 'Three-letter code' },
  { ...code, name: 'numeric_code', length: 3, description: 'Three digits, zeros kept' },
  { ...code, name: 'name', length: 100 },
];
export const countries = [
  { alpha2: 'FI', alpha3: 'FIN', numeric_code: '246', name: 'Finland' },
  { alpha2: 'PL', alpha3: 'POL', numeric_code: '616', name: 'Poland' },
  { alpha2: 'CH', alpha3: 'CHE', numeric_code: '756', name: 'Switzerland' },
];
