import { emailKey, emailSchema } from './email-address.ts';

describe('emailSchema', () => {
  it.each(['a@b.c', "o'hara@example.com", 'jörg@müller.example', 'a+b@example.co.uk', 'root@localhost'])(
    'takes %s',
    (email) => {
      expect(emailSchema.parse(` ${email} `)).toBe(email);
    },
  );

  it.each([
    '',
    'a',
    '@b.c',
    'a@',
    'a@b@c',
    'a b@c.d',
    'a@b..c',
    'a@-b.c',
    '"a@x, b"@c.d',
    'a@c.d\nBcc: x@y.z',
    `${'a'.repeat(65)}@b.c`,
  ])('refuses %j', (email) => {
    expect(emailSchema.safeParse(email).success).toBe(false);
  });
});

describe('keys', () => {
  it('are equal for what a person would call the same', () => {
    expect(emailKey(' Ada@Example.COM')).toBe(emailKey('ada@example.com '));
    expect(emailKey('a+b@x.y')).not.toBe(emailKey('a@x.y'));
  });
});
