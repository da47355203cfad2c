import { commonScopes, grantScopes, includesScopes, parseScopes } from './scopes.ts';

describe('parseScopes', () => {
  it('reads known words, each once, in one order', () => {
    expect(parseScopes('api:write  api:read api:write')).toEqual(['api:read', 'api:write']);
    expect(parseScopes('')).toEqual([]);
  });

  it.each(['api:readx', 'API', 'api:', 'apix', 'api:read\napi:admin', 'api,api:read', 'constructor'])(
    'does not know %j',
    (text) => {
      expect(parseScopes(text)).toBeUndefined();
    },
  );
});

describe('includesScopes', () => {
  it('takes api for all of them', () => {
    expect(includesScopes(['api'], ['api', 'api:read', 'api:write', 'api:delete', 'api:admin'])).toBe(true);
    expect(includesScopes(['api:read', 'api:write', 'api:delete', 'api:admin'], ['api'])).toBe(false);
    expect(includesScopes(['api:read'], ['api:read', 'api:write'])).toBe(false);
  });
});

describe('commonScopes', () => {
  it.each([
    ['api', 'api:read api:write', 'api:read api:write'],
    ['api:read api:write', 'api', 'api:read api:write'],
    ['api', 'api', 'api'],
    ['api:read api:write', 'api:write api:delete', 'api:write'],
    ['api:read', 'api:write', undefined],
    ['api:read', '', undefined],
    ['', 'api', undefined],
  ])('of %j and %j are %j', (one, other, common) => {
    expect(commonScopes(one, other)).toBe(common);
    expect(commonScopes(other, one)).toBe(common);
  });
});

describe('grantScopes', () => {
  it('grants all that is held when nothing is asked, else just what is asked within it', () => {
    expect(grantScopes('api:read api:write', undefined)).toBe('api:read api:write');
    expect(grantScopes('api:read api:write', ' ')).toBe('api:read api:write');
    expect(grantScopes('api', 'api:write api:read')).toBe('api:read api:write');
    expect(grantScopes('api:read', 'api:write')).toBeUndefined();
    expect(grantScopes('api:read', 'api:read nonsense')).toBeUndefined();
    expect(grantScopes('', undefined)).toBeUndefined();
  });
});
