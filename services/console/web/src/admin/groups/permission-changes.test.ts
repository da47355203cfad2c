import { permissionChanges, placesOf, ticksOf, toPermissions, writeTick } from './permission-changes.ts';

const domain = { resource_type: 'domain', resource_id: 3 } as const;
const account = { resource_type: 'account', resource_id: 1 } as const;
const saved = ticksOf({ permissions: [{ id: 9, action: 'edit', ...domain }] });

describe('the ticked rights of a group', () => {
  it('are at first those that it has', () => {
    expect([...saved]).toEqual(['edit@domain:3']);
    expect(permissionChanges(saved, saved)).toEqual({ added: [], taken: [] });
  });

  it('differ by what is added and what is taken away', () => {
    const ticked = new Set([writeTick('approve', account), writeTick('view', domain)]);
    expect(permissionChanges(saved, ticked)).toEqual({
      added: [
        { right: 'approve', place: account },
        { right: 'view', place: domain },
      ],
      taken: [{ right: 'edit', place: domain }],
    });
  });

  it('are at places, the widest first, each once', () => {
    const ticks = [writeTick('edit', domain), writeTick('view', domain), writeTick('view', account)];
    expect(placesOf(ticks)).toEqual([account, domain]);
  });

  it('are permissions of the API, without what is none', () => {
    expect(toPermissions([...saved, 'fly@domain:3', 'edit@moon:1'])).toEqual([{ action: 'edit', ...domain }]);
  });
});
