import { readSmtpUrl } from './smtp-url.ts';

const problemOf = (url: string) => {
  try {
    return readSmtpUrl(url);
  } catch (error) {
    return (error as Error).message;
  }
};

describe('readSmtpUrl', () => {
  it.each([
    ['smtp://mail.test', { host: 'mail.test', port: 587, tls: 'required' }],
    ['smtps://mail.test', { host: 'mail.test', port: 465, tls: 'implicit' }],
    ['smtp://mail.test:25/?tls=none', { host: 'mail.test', port: 25, tls: 'none' }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525, tls: 'required' }],
    [
      'smtp://a%40b.test:p%3A%40%2F@mail.test:2587',
      { host: 'mail.test', port: 2587, tls: 'required', auth: { user: 'a@b.test', pass: 'p:@/' } },
    ],
    ['smtp://u:p@127.0.0.1:25?tls=none', { host: '127.0.0.1', port: 25, tls: 'none', auth: { user: 'u', pass: 'p' } }],
  ])('reads %s', (url, server) => {
    expect(readSmtpUrl(url)).toEqual(server);
  });

  it.each([
    'smtp://',
    'smtp://mail.test/folder',
    'smtp://mail.test?tls=maybe',
    'smtp://mail.test?secure=false',
    'smtps://mail.test?tls=none',
    'smtp://mail.test?tls=none&ca_file=/etc/ca.crt',
    'smtps://mail.test?ca_file=/nowhere/topsecret',
    'smtp://topsecret@mail.test',
    'smtp://:topsecret@mail.test',
    'smtp://user:topsecret@mail.test?tls=none',
  ])('refuses %s without repeating it', (url) => {
    expect(problemOf(url)).toEqual(expect.any(String));
    expect(problemOf(url)).not.toMatch(/topsecret|mail\.test/);
  });
});
