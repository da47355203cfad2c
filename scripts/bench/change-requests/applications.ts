import type { Product } from '../measuring/product.ts';
import { median } from '../measuring/quantiles.ts';
import { givenRequest, type Measured, patienceMs } from './given-request.ts';

export type ApplicationTimes = { rehearsal: number; application: number };

/** The seconds that a caller waits. */
export async function timeApplications(given: Measured): Promise<ApplicationTimes> {
  const { product, client, tables, operations, rounds, say } = given;
  const times = { rehearsal: [] as number[], application: [] as number[] };
  for (let round = 1; round <= rounds; round += 1) {
    await givenRequest(client, tables, { id: round, operations, phase: 'review', decision: 'accepted' });
    const rehearsal = await timeOf(() => rehearse(product, round));
    const { answer } = rehearsal;
    const application = await timeOf(() =>
      product.asMetadata.data.ApplyChangeRequest(
        product.asMetadata.caller,
        { apply_id: `bench-${round}`, change_request_id: round, revision: answer.revision, rest_request_id: 0 },
        { deadlineMs: patienceMs },
      ),
    );
    if (answer.problem_count > 0 || application.answer.status !== 'applied')
      throw new Error(`The application ended as ${JSON.stringify(application.answer).slice(0, 500)}`);
    times.rehearsal.push(rehearsal.seconds);
    times.application.push(application.seconds);
    say(`round ${round}: rehearsal ${rehearsal.seconds.toFixed(2)} s, application ${application.seconds.toFixed(2)} s`);
  }
  return { rehearsal: median(times.rehearsal), application: median(times.application) };
}

type Rehearsed = { problem_count: number; revision: string };

async function rehearse({ service }: Product, request: number): Promise<Rehearsed> {
  const answer = await fetch(`http://127.0.0.1:${service.port}/api/v1/change_requests/${request}/rehearse`, {
    method: 'POST',
    headers: await service.headers(),
    signal: AbortSignal.timeout(patienceMs),
  });
  if (answer.status !== 200) throw new Error(`The rehearsal answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Rehearsed;
}

async function timeOf<T>(work: () => Promise<T>): Promise<{ seconds: number; answer: T }> {
  const begun = performance.now();
  const answer = await work();
  return { seconds: (performance.now() - begun) / 1_000, answer };
}
