// The date style of an account: the default for files when neither the mapping nor the import
// states one.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { JobsContext } from '../context.ts';
import { dateStyles, type Mapping } from './mapping.ts';

/** The current date style of the account. */
export async function readAccountDateStyle(
  ctx: Pick<JobsContext, 'identity'>,
  caller: RpcCaller,
): Promise<Mapping['date_style']> {
  const { date_style } = await ctx.identity.GetAccount(caller, {});
  return dateStyles.find((each) => each === date_style) ?? 'ISO';
}
