// Who may read which events. Applications and administrators read all; of what is about people and
// applications, with the scope `api:admin`. Other users read of rows that changed in tables that
// they may view.
import { type CallContext, hasScope } from '@almanac/service-kit/caller/call-context';
import { allows, type HeldRights } from '@almanac/service-kit/rights/rights';
import type { JobsContext } from '../context.ts';
import { type AccountEvent, matchesTypes, type TypeFilter } from './account-event.ts';
import { isAdministrative } from './event-messages.ts';

const ofRows = 'rows.changed';

/** The events that one caller may read. */
export type Audience = {
  /** The types worth reading, for a caller who asks for these; undefined: no event can match. */
  narrow(types: TypeFilter): TypeFilter | undefined;
  mayRead(event: AccountEvent): boolean;
};

/** The audience that the caller is now: rights may change while a stream is open. */
export async function readAudience({ rights }: Pick<JobsContext, 'rights'>, call: CallContext): Promise<Audience> {
  const held = call.userId === undefined ? undefined : await rights.get(call);
  if (held && !allows(held, 'admin', {})) return viewer(held);
  const administers = hasScope(call, 'api:admin');
  return { narrow: (types) => types, mayRead: ({ type }) => administers || !isAdministrative(type) };
}

function viewer(held: HeldRights): Audience {
  return {
    narrow: (types) => (matchesTypes(types, ofRows) ? [ofRows] : undefined),
    mayRead: ({ type, resource }) => {
      const { id, domain_id: domainId, branch_id: branchId } = resource;
      // Without its place, rights on a private branch could not be distinguished.
      if (type !== ofRows || id === null || domainId === undefined || branchId === undefined) return false;
      return allows(held, 'view', { domainId, branchId, tableDefinitionId: id });
    },
  };
}
