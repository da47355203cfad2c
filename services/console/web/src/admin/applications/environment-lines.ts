// What a program needs to get tokens, as lines of an .env file.

export type Credentials = { baseUrl: string; clientId: string; clientSecret: string };

/** The variables of the client and of the examples in the how-to pages. */
export function environmentLines({ baseUrl, clientId, clientSecret }: Credentials): string {
  return [`ALMANAC_BASE_URL=${baseUrl}`, `ALMANAC_CLIENT_ID=${clientId}`, `ALMANAC_CLIENT_SECRET=${clientSecret}`].join(
    '\n',
  );
}
