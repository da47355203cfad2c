// Connections to one replica of a service. There is no bound on them: who sends has one, and a queue here would be unseen.
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Trunk } from '@almanac/service-kit/trunk';
import { askForTrunk } from '@almanac/service-kit/trunk-http';
import { type buildConnector, Pool } from 'undici';
import type { Exchange } from './exchange.ts';

/** Bodies up to this size go over strands; what is larger has a connection of its own, so that it is in nobody's way. */
const smallBytes = 65_536;
const pauseMs = 5_000; // before a trunk is asked for again: one that wasn't given, or didn't last

export class Connections {
  private readonly origin: string;
  private readonly options: Pool.Options;
  /** Used again and again. */
  private kept: Pool;
  /** Each for one request: when one kept connection turned out to be dead, so may the others be. */
  private readonly fresh: Pool;
  /** Many small calls cost one write (docs/adr/0019-trunks.md). */
  private shared: { trunk: Trunk; strands: Pool } | undefined;
  private isAsking = false;
  private askAt = 0;
  private isClosed = false;

  /** To the service at `origin`; none is made before it is needed. */
  constructor(origin: string, connectMs: number) {
    this.origin = origin;
    // Waiting for answers and bodies is bounded by stalls.ts, which knows what the call is.
    this.options = { connectTimeout: connectMs, headersTimeout: 0, bodyTimeout: 0, allowH2: false };
    this.kept = new Pool(origin, this.options);
    this.fresh = new Pool(origin, { ...this.options, maxRequestsPerClient: 1 });
  }

  /** Those that a request goes over. */
  choose({ wasRetried, route, isUpload, req }: Exchange): Pool {
    if (wasRetried) return this.fresh;
    const isSmall = route && !isUpload && isSmallBody(req.headers);
    return isSmall && this.shared?.trunk.isUsable ? this.shared.strands : this.kept;
  }

  /** An answer offers trunks: from now on there is one, if the service means it. */
  offered(): void {
    const now = performance.now();
    if (this.shared?.trunk.isUsable || this.isAsking || now < this.askAt) return;
    this.isAsking = true;
    this.askAt = now + pauseMs;
    void askForTrunk(this.origin, this.options.connectTimeout as number).then((trunk) => {
      this.isAsking = false;
      if (this.isClosed) trunk?.destroy();
      if (this.isClosed || !trunk) return;
      this.leaveTrunk();
      this.shared = { trunk, strands: new Pool(this.origin, { ...this.options, connect: over(trunk) }) };
    });
  }

  /** Gives the trunk up when nothing has come over it for twice that time although it was asked. Calls that wait on it keep their time. */
  look(silentMs: number): void {
    if (this.shared?.trunk.isSilent(silentMs)) this.leaveTrunk();
  }

  /**
   * An answer said that its replica is about to stop. A call that meets the end of its connection can't be told from one that was done, so none
   * goes over one that there is: those without a call end now, the others with their answers. Behind one address there may be replicas that stay.
   */
  leave(): void {
    if (this.isClosed) return;
    this.leaveTrunk();
    void this.kept.close();
    this.kept = new Pool(this.origin, this.options);
  }

  /** Ends them with the last of their answers. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.leaveTrunk();
    await Promise.all([this.kept.close(), this.fresh.close()]);
  }

  /** Ends them now. */
  async destroy(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.kept.destroy(), this.fresh.destroy(), this.shared?.strands.destroy()]);
    this.shared?.trunk.destroy();
  }

  private leaveTrunk(): void {
    const { shared } = this;
    if (!shared) return;
    this.shared = undefined;
    void shared.strands.close();
    shared.trunk.end();
  }
}

// undici knows sockets; a strand is all that it uses of one. Not before it returns: undici goes on with what waits only then.
const over =
  (trunk: Trunk): buildConnector.connector =>
  (_options, done) =>
    queueMicrotask(() => {
      if (trunk.isUsable) done(null, trunk.open() as unknown as Socket);
      else done(Object.assign(new Error('The trunk was lost.'), { code: 'ECONNRESET' }), null);
    });

const isSmallBody = ({ 'transfer-encoding': chunked, 'content-length': length }: IncomingHttpHeaders) =>
  chunked === undefined && Number(length ?? 0) <= smallBytes;
