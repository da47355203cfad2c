// What the caller may do with domains.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { MetadataContext } from '../context.ts';
import { type Allowed, findHeld, judge, lacks } from '../rights/allowed-actions.ts';
import type { Domain } from './domains.ts';

/** Judges the actions on domains. */
export async function judgeDomains(ctx: MetadataContext, call: CallContext, domains: Domain[]): Promise<Allowed[]> {
  const held = await findHeld(ctx, call);
  const admin = lacks(held, 'admin', {});
  return domains.map(({ id }) =>
    judge(call, {
      update: { scope: 'api:admin', refuse: () => admin },
      delete: { scope: 'api:admin', refuse: () => admin },
      create_table: { scope: 'api:write', refuse: () => lacks(held, 'develop', { domainId: id }) },
    }),
  );
}
