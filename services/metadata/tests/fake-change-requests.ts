// The change requests of the fake of data: operations, decisions, phases, revisions and
// applications as the protos promise them, in memory.
import type { AppliedChangeRequest__Output } from '@almanac/protos/generated/almanac/data/v1/AppliedChangeRequest.ts';
import type { ApplyChangeRequestRequest__Output } from '@almanac/protos/generated/almanac/data/v1/ApplyChangeRequestRequest.ts';
import type { ChangeRequestProblem__Output } from '@almanac/protos/generated/almanac/data/v1/ChangeRequestProblem.ts';
import type { ChangeRequestSummary__Output } from '@almanac/protos/generated/almanac/data/v1/ChangeRequestSummary.ts';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';

type Kind = 'create' | 'update' | 'delete' | 'restore';
type Decision = 'undecided' | 'accepted' | 'rejected' | 'returned';
type Operation = { id: number; table_definition_id: number; kind: Kind; decision: Decision; problems: number };
type Request = {
  accountId: number;
  branch_id: number;
  created_by: number | undefined;
  /** The dry run that it begins with. */
  load_id: string | undefined;
  phase: string;
  operations: Operation[];
};

/** The change requests of data; tests write to it. */
export class FakeChangeRequests {
  readonly requests = new Map<number, Request>();
  readonly applied = new Map<string, AppliedChangeRequest__Output>();
  /** The ids of applications that had their effect. */
  readonly applications: string[] = [];
  /** The requested applications. */
  readonly asked: ApplyChangeRequestRequest__Output[] = [];
  /** The problems that keep the next applications from being made. */
  refusing: Partial<ChangeRequestProblem__Output>[] = [];
  private rows = 0;
  private lastOperation = 0;

  /** Adds operations, as the creator does over HTTP. Answers their ids. */
  propose(id: number, table_definition_id: number, kinds: Kind[], problems = 0): number[] {
    const request = this.require(id);
    if (request.phase !== 'draft') throw new Error(`operations change in the phase draft, not ${request.phase}`);
    return kinds.map((kind) => {
      this.lastOperation += 1;
      const operation = { id: this.lastOperation, table_definition_id, kind, decision: 'undecided' as const, problems };
      request.operations.push(operation);
      return operation.id;
    });
  }

  /** Decides operations, as approvers do over HTTP. */
  decide(id: number, ids: number[], decision: Decision): void {
    const request = this.require(id);
    if (request.phase !== 'review') throw new Error(`operations are decided in the phase review, not ${request.phase}`);
    for (const operation of request.operations) if (ids.includes(operation.id)) operation.decision = decision;
  }

  /** Another user changes rows that are concerned: every revision is another one. */
  changeRows(): void {
    this.rows += 1;
  }

  private require(id: number): Request {
    const request = this.requests.get(id);
    if (!request) throw notFound('Change request');
    return request;
  }

  private find(accountId: number, id: number): Request | undefined {
    const request = this.requests.get(id);
    return request?.accountId === accountId ? request : undefined;
  }

  // Approval accepts the undecided, and so keeps the revision.
  revisionOf({ operations }: Request): string {
    const standing = operations.filter(({ decision }) => decision !== 'rejected' && decision !== 'returned');
    return `r${this.rows}-${standing.map(({ id }) => id).join('.')}`;
  }

  private summary(id: number, request: Request, deployed: Deployed, withRevision: boolean) {
    const { branch_id, phase, operations } = request;
    const count = (test: (operation: Operation) => boolean, among = operations) => among.filter(test).length;
    const decided = (decision: Decision) => count((operation) => operation.decision === decision);
    const ids = [...new Set(operations.map(({ table_definition_id }) => table_definition_id))];
    return {
      ...{ change_request_id: id, branch_id, phase, operation_count: operations.length },
      tables: ids.map((tableId) => {
        const among = operations.filter(({ table_definition_id }) => table_definition_id === tableId);
        const { key = '', name = '', domain_id = 0 } = deployed.get(tableId) ?? {};
        return {
          ...{ table_definition_id: tableId, key, name, domain_id },
          created: count(({ kind }) => kind === 'create' || kind === 'restore', among),
          updated: count(({ kind }) => kind === 'update', among),
          deleted: count(({ kind }) => kind === 'delete', among),
          with_problems: count(({ problems }) => problems > 0, among),
        };
      }),
      undecided: decided('undecided'),
      accepted: decided('accepted'),
      rejected: decided('rejected'),
      returned: decided('returned'),
      with_problems: count(({ problems }) => problems > 0),
      revision: withRevision ? this.revisionOf(request) : '',
    } satisfies ChangeRequestSummary__Output;
  }

  /** The calls, on the tables that are deployed. */
  handlers(deployed: Deployed, hook: (rpc: string, when: 'before' | 'after') => unknown): Partial<RpcHandlers<'data'>> {
    const hooked = async <T>(rpc: string, work: () => T): Promise<T> => {
      await hook(rpc, 'before');
      const result = work();
      await hook(rpc, 'after');
      return result;
    };
    return {
      OpenChangeRequest: ({ accountId }, { change_request_id: id, branch_id, created_by, load_id }) =>
        hooked('OpenChangeRequest', () => {
          if (!this.requests.has(id))
            this.requests.set(id, { accountId, branch_id, created_by, load_id, phase: 'draft', operations: [] });
          return this.summary(id, this.require(id), deployed, false);
        }),
      SetChangeRequestPhase: ({ accountId }, { change_request_id: id, phase, accept_undecided_by }) =>
        hooked('SetChangeRequestPhase', () => {
          const request = this.find(accountId, id);
          if (!request) throw notFound('Change request');
          if (phase === 'review' && request.phase === 'draft') refuseUnfit(request);
          request.phase = phase;
          for (const operation of request.operations) {
            if (phase === 'draft') operation.decision = 'undecided';
            if (accept_undecided_by !== undefined && operation.decision === 'undecided')
              operation.decision = 'accepted';
          }
          return this.summary(id, request, deployed, false);
        }),
      SummarizeChangeRequests: ({ accountId }, { change_request_ids, with_revision }) =>
        hooked('SummarizeChangeRequests', () => ({
          summaries: change_request_ids.flatMap((id) => {
            const request = this.find(accountId, id);
            return request ? [this.summary(id, request, deployed, with_revision)] : [];
          }),
        })),
      ApplyChangeRequest: ({ accountId }, request) =>
        hooked('ApplyChangeRequest', () => this.apply(accountId, request, deployed)),
      GetAppliedChangeRequest: ({ accountId }, { apply_id }) =>
        hooked('GetAppliedChangeRequest', () => this.applied.get(`${accountId}/${apply_id}`) ?? result('unknown', '')),
    };
  }

  private apply(accountId: number, asked: ApplyChangeRequestRequest__Output, deployed: Deployed) {
    const { apply_id, change_request_id: id, revision, rest_request_id } = asked;
    this.asked.push(asked);
    const earlier = this.applied.get(`${accountId}/${apply_id}`);
    if (earlier) return earlier;
    const request = this.find(accountId, id);
    if (!request) throw notFound('Change request');
    const present = this.revisionOf(request);
    if (revision !== '' && revision !== present)
      return result('refused', present, [{ code: 'outdated', message: 'Rows have changed since.' }]);
    if (this.refusing.length > 0) return result('refused', present, this.refusing);
    const accepted = request.operations.filter(({ decision }) => decision === 'accepted');
    const returned = request.operations.filter(({ decision }) => decision === 'returned');
    const ids = [...new Set(accepted.map(({ table_definition_id }) => table_definition_id))];
    const count = (tableId: number, of: Kind) =>
      accepted.filter(({ table_definition_id, kind }) => table_definition_id === tableId && kind === of).length;
    if (returned.length > 0) {
      const operations = returned.map((operation) => ({ ...operation, decision: 'undecided' as const }));
      this.requests.set(rest_request_id, { ...request, phase: 'draft', operations });
      request.operations = request.operations.filter(({ decision }) => decision !== 'returned');
    }
    const done = {
      ...result('applied', present),
      tables: ids.map((tableId) => ({
        table_definition_id: tableId,
        key: deployed.get(tableId)?.key ?? '',
        created: count(tableId, 'create'),
        updated: count(tableId, 'update'),
        deleted: count(tableId, 'delete'),
        restored: count(tableId, 'restore'),
      })),
      left: returned.length,
    };
    this.applied.set(`${accountId}/${apply_id}`, done);
    this.applications.push(apply_id);
    return done;
  }
}

type Deployed = ReadonlyMap<number, { key: string; name: string; domain_id: number }>;

function result(
  status: string,
  revision: string,
  problems: Partial<ChangeRequestProblem__Output>[] = [],
): AppliedChangeRequest__Output {
  const blank = { operation_id: 0, table: '', code: 'invalid', message: '', column: '' };
  const shown = problems.map((problem) => ({ ...blank, ...problem }));
  return { status, revision, problems: shown, problem_count: shown.length, tables: [], left: 0 };
}

function refuseUnfit({ operations }: Request): void {
  const broken = operations.filter(({ problems }) => problems > 0).length;
  if (operations.length === 0)
    throw new ServiceError('wrong_state', { code: 'wrong_state', message: 'The change request is empty.' });
  if (broken > 0)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: `${broken} operations have problems.`,
      params: { count: broken },
    });
}
