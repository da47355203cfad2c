import { createPasswords, newReadablePassword } from './passwords.ts';

describe('passwords', () => {
  const passwords = createPasswords(19_456);

  it('are stored as argon2id with 19 MiB, two passes and one lane, each with its own salt', async () => {
    const [one, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(two);
    expect(await passwords.verify('correct horse', one)).toBe(true);
    expect(await passwords.verify('correct Horse', one)).toBe(false);
  });

  it('hold after the memory of a hash has changed', async () => {
    const stored = await createPasswords(8).hash('correct horse');
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=8,t=2,p=1\$/);
    expect(await passwords.verify('correct horse', stored)).toBe(true);
    expect(await passwords.verify('correct Horse', stored)).toBe(false);
  });

  it('hold however accents are encoded', async () => {
    expect(await passwords.verify('cafe\u0301', await passwords.hash('caf\u00E9'))).toBe(true);
  });

  it('never hold for a user without one', async () => {
    for (const stored of [null, undefined, '', 'nonsense']) expect(await passwords.verify('', stored)).toBe(false);
  });

  it('are all checked when many users log in at once', async () => {
    const stored = await passwords.hash('correct horse');
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => passwords.verify(i % 2 ? 'x' : 'correct horse', stored)),
    );
    expect(answers.filter(Boolean)).toHaveLength(6);
  });
});

describe('newReadablePassword', () => {
  it('is four groups of five unambiguous characters, never twice the same', () => {
    const made = Array.from({ length: 200 }, newReadablePassword);
    for (const password of made) expect(password).toMatch(/^[a-hjkmnp-z2-9]{5}(-[a-hjkmnp-z2-9]{5}){3}$/);
    expect(new Set(made).size).toBe(200);
  });
});
