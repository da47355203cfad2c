// How an account writes dates: what holds for files of which neither a mapping nor an import says
// another.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { JobsContext } from '../context.ts';
import { dateStyles, type Mapping } from './mapping.ts';

/** The account's date style, as its administrators have set it by now. */
export async function readAccountDateStyle(
  ctx: Pick<JobsContext, 'identity'>,
  caller: RpcCaller,
): Promise<Mapping['date_style']> {
  const { date_style } = await ctx.identity.GetAccount(caller, {});
  return dateStyles.find((each) => each === date_style) ?? 'ISO';
}
