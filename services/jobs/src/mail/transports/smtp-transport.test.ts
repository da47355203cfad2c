import { failureOf } from './smtp-transport.ts';

const refusal = (code: string, response?: string) => {
  const responseCode = response === undefined ? undefined : Number(response.slice(0, 3));
  const permanent = responseCode === undefined ? undefined : responseCode >= 500 && responseCode !== 503;
  const known = { response, responseCode, permanent };
  const present = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return Object.assign(new Error('It failed'), { code, ...present });
};

describe('failureOf', () => {
  it.each([
    ['EENVELOPE', '550 5.1.1 no such user'],
    ['EMESSAGE', '554 5.7.1 spam'],
    ['EENVELOPE', undefined],
  ])('gives up what is refused permanently: %s %s', (code, response) => {
    expect(failureOf(refusal(code, response)).kind).toBe('validation_failed');
  });

  it.each([
    ['EENVELOPE', '451 4.7.1 greylisted'],
    ['EMESSAGE', '452 4.3.1 no room'],
    ['EENVELOPE', '503 5.5.1 bad sequence'],
    ['EAUTH', '535 5.7.8 who are you?'],
    ['EPROTOCOL', '554 5.7.1 not from your address'],
    ['ETLS', '502 5.5.1 no STARTTLS'],
    ['ECONNECTION', undefined],
    ['ETIMEDOUT', undefined],
    ['EDNS', undefined],
  ])('retries what may pass or be fixed: %s %s', (code, response) => {
    expect(failureOf(refusal(code, response)).kind).toBe('unavailable');
  });

  it('quotes the server on one line, bounded, without the query of a link', () => {
    const { message } = failureOf(refusal('EMESSAGE', `554 no\r\nhttps://a.test/b?token=secret ${'x'.repeat(2000)}`));
    expect(message).toContain('554 no https://a.test/b?… x');
    expect(message.length).toBeLessThan(600);
  });
});
