import { environmentLines } from './environment-lines.ts';

describe('the lines for .env', () => {
  it('name the address, the client and its secret', () => {
    expect(environmentLines({ baseUrl: 'https://almanac.example.com', clientId: 'id', clientSecret: 's-_x' })).toBe(
      'ALMANAC_BASE_URL=https://almanac.example.com\nALMANAC_CLIENT_ID=id\nALMANAC_CLIENT_SECRET=s-_x',
    );
  });
});
